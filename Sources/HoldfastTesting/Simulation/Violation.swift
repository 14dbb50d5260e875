/// A promise that was broken.
package struct Violation: Sendable, CustomStringConvertible {
    /// Its number in the design; 0 for a rule of a contract between parts.
    package let promise: Int
    package let message: String
    package let step: Int

    package var description: String {
        let which = promise == 0 ? "a contract" : "promise \(promise)"
        return "step \(step): \(which) was broken: \(message)"
    }
}
