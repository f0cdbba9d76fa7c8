//! Values and derivatives of networks by hand and by differences.

use super::activation::Activation;
use super::perceptrons::Perceptrons;
use super::shape::{MAX_HIDDEN_LAYERS, NetworkShape};
use crate::numeric::error::ParameterError;
use crate::numeric::slices::Slices;

#[test]
fn value_and_derivative_of_a_network_of_one_hidden_unit() -> Result<(), ParameterError> {
    // 2 relu(x) + 1, for two lanes.
    let shape = NetworkShape::new(1, &[1], 1, Activation::Relu)?;
    let tiles = [
        [0.0; 4],
        [1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0, 0.0],
    ];
    assert_eq!(shape.tiles(), tiles.len());
    assert_eq!((shape.inputs(), shape.outputs()), (1, 1));
    // Rows come in fours, as the outputs of a layer do.
    assert_eq!((shape.hidden_rows(), shape.widest()), (4, 4));
    // At (x − 1) · 2, so that standardisation takes part.
    let network = Perceptrons::new(shape, &tiles, &[1.0], &[2.0])?;
    let mut scratch = vec![[0.0; 2]; network.scratch_rows().unwrap_or(0)];
    let whole = Slices::default();
    let outputs = network.forward(&[[3.0, -1.0]], &[], &mut scratch, &whole);
    assert_eq!(outputs.and_then(|rows| rows.first()), Some(&[9.0, 1.0]));
    let mut gradient = [[0.5; 2]];
    let ones = |outputs: &mut [[f32; 2]]| {
        outputs.fill([0.0; 2]);
        *outputs.first_mut()? = [1.0; 2];
        Some(())
    };
    let cotangents = (&mut gradient[..], &mut [][..]);
    let done = network.pull_back(&mut scratch, ones, cotangents, &Slices::default());
    assert_eq!((done, gradient), (Some(()), [[4.5, 0.5]]));
    assert!(
        network
            .forward(&[[0.0; 2]], &[], &mut scratch[1..], &whole)
            .is_none()
    );
    Ok(())
}

#[test]
fn layers_may_have_activations_of_their_own() -> Result<(), ParameterError> {
    use Activation::{Elu, Gelu, Relu, Silu, Softplus, Tanh};
    // Three hidden layers of one unit, each with weight 1 and no bias.
    let one = [1.0, 0.0, 0.0, 0.0];
    let tiles = [[0.0; 4], one, [0.0; 4], one, [0.0; 4], one, [0.0; 4], one];
    let orders = [
        [Tanh, Silu, Relu],
        [Silu, Relu, Tanh],
        [Relu, Tanh, Silu],
        [Elu, Softplus, Silu],
        [Softplus, Silu, Elu],
        [Softplus, Tanh, Elu],
        [Gelu, Softplus, Gelu],
    ];
    for order in orders {
        let shape = NetworkShape::mixed(1, order.into_iter().map(|one| (1, one)), 1)?;
        let network = Perceptrons::new(shape, &tiles, &[0.0], &[1.0])?;
        let mut scratch = vec![[0.0; 1]; network.scratch_rows().unwrap_or(0)];
        let mut value = |x: f32| {
            let outputs = network.forward(&[[x]], &[], &mut scratch, &Slices::default());
            outputs
                .and_then(|rows| rows.first())
                .map_or(f32::NAN, |row| row[0])
        };
        let wanted = order.iter().fold(0.7, |x, activation| activation.of(x));
        assert!((value(0.7) - wanted).abs() < 1e-6, "{order:?}");
        let slope = (value(0.71) - value(0.69)) / 0.02;
        value(0.7);
        let mut gradient = [[0.0; 1]];
        let ones = |outputs: &mut [[f32; 1]]| {
            *outputs.first_mut()? = [1.0];
            Some(())
        };
        let cotangents = (&mut gradient[..], &mut [][..]);
        let done = network.pull_back(&mut scratch, ones, cotangents, &Slices::default());
        assert!(
            done.is_some() && (gradient[0][0] - slope).abs() < 1e-3,
            "{order:?}"
        );
    }
    Ok(())
}

/// Images hold these numbers.
#[test]
fn activations_keep_their_order() {
    use Activation::{Elu, Gelu, Relu, Silu, Softplus, Tanh};
    let order = [Relu, Tanh, Silu, Elu, Softplus, Gelu].map(|one| one as u8);
    assert_eq!(order, [0, 1, 2, 3, 4, 5]);
}

/// Far out nothing overflows, and what is no number stays none.
#[test]
fn smooth_rectifiers_have_no_edge() {
    for activation in [Activation::Elu, Activation::Softplus, Activation::Gelu] {
        let least = activation.of(-1e30);
        assert_eq!(activation.of(1e30), 1e30);
        assert!(least == -1.0 || least == 0.0, "{least}");
        assert!(activation.of(f32::NAN).is_nan());
        for x in [-90.0_f32, -3.0, -1e-3, 0.0, 1e-3, 3.0, 90.0] {
            let wide = f64::from(x);
            let wanted = match activation {
                Activation::Elu => wide.max(0.0) + wide.min(0.0).exp_m1(),
                Activation::Gelu => 0.5 * wide * libm::erfc(-wide / core::f64::consts::SQRT_2),
                _ => wide.max(0.0) + (-wide.abs()).exp().ln_1p(),
            };
            assert!((f64::from(activation.of(x)) - wanted).abs() < 1e-6, "{x}");
        }
    }
}

#[test]
fn a_width_of_zero_is_no_shape() {
    let shape = |hidden: &[u16]| NetworkShape::new(4, hidden, 2, Activation::Tanh);
    assert!(shape(&[64, 64]).is_ok());
    assert_eq!(shape(&[0]), Err(ParameterError::Size("layer")));
    let full = ParameterError::Size("hidden layers");
    assert_eq!(shape(&[1; MAX_HIDDEN_LAYERS + 1]), Err(full));
}
