/// The progress of a long inspection.
package struct InspectionProgress: Hashable, Sendable {
    /// The current step, such as "checking entries".
    package var phase: String
    /// Pages or rows that are done.
    package var done: Int
    /// Pages or rows of this step.
    package var total: Int
}
