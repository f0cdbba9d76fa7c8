//! What a model costs, as `hambo-budget` counts it on the device.
//!
//! One line for each model, and a closing line with their number:
//! `cost forward=1000 adjoint=2000 calls=4`, `costs models=1`.

/// Instructions of a model over four lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelCost {
    /// Of one forward pass.
    pub forward: f64,
    /// Of one adjoint, back through a forward pass.
    pub adjoint: f64,
}

impl ModelCost {
    /// All costs of a log that ends with as many as it should have.
    pub(super) fn parse_all<'a>(messages: impl IntoIterator<Item = &'a str>) -> Option<Vec<Self>> {
        let mut costs = Vec::new();
        let mut closed = None;
        for message in messages {
            if closed.is_some() {
                return None;
            }
            if let Some(count) = message.strip_prefix("costs models=") {
                closed = Some(count.parse::<usize>().ok()?);
            } else if message.starts_with("cost ") {
                costs.push(Self::parse(message)?);
            }
        }
        (closed == Some(costs.len())).then_some(costs)
    }

    fn parse(message: &str) -> Option<Self> {
        let mut words = message.split(' ').skip(1);
        let mut field = |key: &str| -> Option<u64> {
            let value = words.next()?.strip_prefix(key)?.strip_prefix('=')?;
            value.parse().ok()
        };
        let (forward, adjoint, calls) = (field("forward")?, field("adjoint")?, field("calls")?);
        let calls = (calls > 0 && words.next().is_none()).then_some(calls as f64)?;
        Some(Self {
            forward: forward as f64 / calls,
            adjoint: adjoint as f64 / calls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ModelCost;

    const COST: &str = "cost forward=1000 adjoint=2000 calls=4";

    #[test]
    fn every_model_has_its_cost() {
        let cost = ModelCost {
            forward: 250.0,
            adjoint: 500.0,
        };
        let parsed = ModelCost::parse_all(["hello", COST, COST, "costs models=2"]);
        assert_eq!(parsed, Some(vec![cost; 2]));
    }

    #[test]
    fn a_log_that_is_not_whole_is_none() {
        for messages in [
            &[][..],
            &[COST],
            &[COST, "costs models=2"],
            &[COST, "costs models=1", COST],
            &["cost forward=1 adjoint=2 calls=0", "costs models=1"],
            &["cost forward=1 adjoint=2", "costs models=1"],
            &["cost forward=1 adjoint=x calls=1", "costs models=1"],
            &["cost forward=1 adjoint=2 calls=1 more=3", "costs models=1"],
        ] {
            let parsed = ModelCost::parse_all(messages.iter().copied());
            assert_eq!(parsed, None, "{messages:?}");
        }
    }
}
