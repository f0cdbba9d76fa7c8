//! Training of network ensembles by explicit gradients.
