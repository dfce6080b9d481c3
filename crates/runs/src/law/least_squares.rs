//! Least squares of a few costs, each row relative to what it took.

/// The coefficients of the first `parts` columns whose sums come closest to 1, by elimination; the
/// others are 0. `None` where the rows do not tell them apart.
pub(super) fn normal_equations<T>(
    rows: &[T],
    columns: impl Fn(&T) -> [f64; 3],
    parts: usize,
) -> Option<[f64; 3]> {
    let mut matrix = [[0.0; 4]; 3];
    for x in rows.iter().map(columns) {
        for i in 0..parts {
            for j in 0..parts {
                matrix[i][j] += x[i] * x[j];
            }
            matrix[i][3] += x[i];
        }
    }
    for i in 0..parts {
        let pivot = matrix[i][i];
        if pivot.is_nan() || pivot <= 1e-12 * matrix[i][3].abs() {
            return None;
        }
        let row = matrix[i];
        for (_, other) in matrix.iter_mut().enumerate().take(parts).filter(|(o, _)| *o != i) {
            let factor = other[i] / pivot;
            other.iter_mut().zip(row).for_each(|(value, of_row)| *value -= factor * of_row);
        }
    }
    let mut found = [0.0; 3];
    (0..parts).for_each(|i| found[i] = matrix[i][3] / matrix[i][i]);
    found.iter().all(|x| x.is_finite()).then_some(found)
}
