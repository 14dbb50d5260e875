/// How far a long look at a journal has come.
public struct InspectionProgress: Hashable, Sendable {
    /// What is being done, such as "checking entries".
    public var phase: String
    public var done: Int
    public var total: Int
}
