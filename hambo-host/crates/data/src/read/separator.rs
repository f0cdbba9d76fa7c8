//! Which character separates the fields of a text, and which sign its decimals have.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of the header that are looked at.
const LOOKED_AT: u64 = 1 << 16;

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Semicolon,
    Tab,
}

impl Separator {
    /// The one that splits the header into the most fields.
    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        let mut start = Vec::new();
        File::open(path)?.take(LOOKED_AT).read_to_end(&mut start)?;
        Ok(Self::of(&start))
    }

    fn of(start: &[u8]) -> Self {
        let mut quoted = false;
        let header = start.iter().take_while(|byte| {
            quoted ^= **byte == b'"';
            quoted || (**byte != b'\n' && **byte != b'\r')
        });
        let mut quoted = false;
        let mut counts = [0; 3];
        for byte in header {
            quoted ^= *byte == b'"';
            for (count, separator) in counts.iter_mut().zip(Self::ALL) {
                *count += usize::from(!quoted && *byte == separator.byte());
            }
        }
        let [comma, semicolon, tab] = counts;
        if comma >= semicolon && comma >= tab {
            Self::Comma
        } else if semicolon >= tab {
            Self::Semicolon
        } else {
            Self::Tab
        }
    }

    const ALL: [Self; 3] = [Self::Comma, Self::Semicolon, Self::Tab];

    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

/// A number with a decimal point, whichever sign it was written with. `points` is what the numbers
/// before it had; `None` if this one has the other, because `1,234` may be either.
pub(super) fn decimal<'a>(
    field: &'a str,
    separator: Separator,
    points: &mut Option<bool>,
) -> Option<Cow<'a, str>> {
    if separator == Separator::Comma {
        return Some(Cow::Borrowed(field));
    }
    let point = match (field.contains('.'), field.contains(',')) {
        (true, false) => true,
        (false, true) => false,
        (true, true) => return None,
        (false, false) => return Some(Cow::Borrowed(field)),
    };
    if *points.get_or_insert(point) != point {
        return None;
    }
    Some(if point {
        Cow::Borrowed(field)
    } else {
        Cow::Owned(field.replace(',', "."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_the_separator() {
        for (header, wanted) in [
            ("x,v,u\n1;2,3;4,5;6", Separator::Comma),
            ("x;v;u\n1,5;2,5;3", Separator::Semicolon),
            ("x\tv\tu\r\n", Separator::Tab),
            ("\"speed, m/s\";\"u, v\";x", Separator::Semicolon),
            ("x", Separator::Comma),
        ] {
            assert_eq!(Separator::of(header.as_bytes()), wanted, "{header}");
        }
    }

    #[test]
    fn one_file_has_one_decimal_sign() {
        let mut points = None;
        let mut read = |field| decimal(field, Separator::Semicolon, &mut points);
        assert_eq!(read("3").as_deref(), Some("3"));
        assert_eq!(read("-1,5e3").as_deref(), Some("-1.5e3"));
        assert_eq!(read("1.5"), None);
        assert_eq!(read("1.234,5"), None);
        assert_eq!(read("0,25").as_deref(), Some("0.25"));
        assert_eq!(
            decimal("1.5", Separator::Comma, &mut None).as_deref(),
            Some("1.5")
        );
    }
}
