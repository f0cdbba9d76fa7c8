//! Points, polylines and the unit disc.

/// A point or vector of the plane.
pub(super) type Point = [f64; 2];

/// Widens a point for drawing.
pub(super) fn point(p: [f32; 2]) -> Point {
    p.map(f64::from)
}

/// Widens a path for drawing.
pub(super) fn path(points: &[[f32; 2]]) -> Vec<Point> {
    points.iter().copied().map(point).collect()
}

/// The point a share `t` of the way from `a` to `b`.
pub(super) fn between(a: Point, b: Point, t: f64) -> Point {
    [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The distance of two points.
pub(super) fn distance(a: Point, b: Point) -> f64 {
    let d = [b[0] - a[0], b[1] - a[1]];
    dot(d, d).sqrt()
}

/// The point of the segment that lies nearest to `target`.
fn nearest_on_segment(a: Point, b: Point, target: Point) -> Point {
    let d = [b[0] - a[0], b[1] - a[1]];
    let length_squared = dot(d, d);
    if length_squared <= 0.0 {
        return a;
    }
    let t = dot([target[0] - a[0], target[1] - a[1]], d) / length_squared;
    between(a, b, t.clamp(0.0, 1.0))
}

/// The point of the path that lies nearest to `target`.
pub(super) fn nearest_on_path(path: &[Point], target: Point) -> Option<Point> {
    let segments = path
        .windows(2)
        .map(|w| nearest_on_segment(w[0], w[1], target));
    segments
        .chain(path.first().copied())
        .min_by(|a, b| distance(*a, target).total_cmp(&distance(*b, target)))
}

/// Where the path first meets the unit disc.
pub(super) fn first_entry(path: &[Point]) -> Option<Point> {
    path.windows(2).find_map(|w| entry(w[0], w[1]))
}

/// Where the segment first meets the unit disc.
fn entry(a: Point, b: Point) -> Option<Point> {
    if dot(a, a) <= 1.0 {
        return Some(a);
    }
    let d = [b[0] - a[0], b[1] - a[1]];
    let (dd, ad) = (dot(d, d), dot(a, d));
    let discriminant = ad * ad - dd * (dot(a, a) - 1.0);
    if dd <= 0.0 || discriminant < 0.0 {
        return None;
    }
    let t = (-ad - discriminant.sqrt()) / dd;
    (0.0..=1.0).contains(&t).then(|| between(a, b, t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_enters_where_it_meets_the_circle() {
        assert_eq!(first_entry(&[[-2.0, 0.0], [2.0, 0.0]]), Some([-1.0, 0.0]));
        assert_eq!(first_entry(&[[-2.0, 1.1], [2.0, 1.1]]), None);
        assert_eq!(first_entry(&[[-2.0, 0.0], [-1.5, 0.0]]), None);
        assert_eq!(
            first_entry(&[[2.0, 0.0], [1.5, 0.0], [0.5, 0.0]]),
            Some([1.0, 0.0])
        );
    }

    #[test]
    fn the_nearest_point_may_be_inside_a_segment_or_its_end() {
        let path = [[0.0, 0.0], [2.0, 0.0], [2.0, 0.0]];
        assert_eq!(nearest_on_path(&path, [1.0, 1.0]), Some([1.0, 0.0]));
        assert_eq!(nearest_on_path(&path, [5.0, 1.0]), Some([2.0, 0.0]));
        assert_eq!(nearest_on_path(&[], [5.0, 1.0]), None);
    }
}
