import Holdfast

/// One way in which a service misbehaves, and what may come of it.
struct Fault: Sendable {
    /// The most streams that a service of the matrix allows on a connection, and so the most that one fault of a connection
    /// can leave open.
    static let streams = 100

    /// What a fault leaves open: what the service may have taken, and the sender cannot know. (Docs/Answers.md.)
    enum LeftOpen: Sendable {
        case nothing
        /// The one request that it happens to.
        case oneRequest
        /// All that is under way on the connection that it happens to.
        case connection

        var most: Int {
            switch self {
            case .nothing: 0
            case .oneRequest: 1
            case .connection: Fault.streams
            }
        }
    }

    /// For `--only`.
    let name: String
    /// What happens, for the table.
    let what: String
    /// Who serves it, for the table.
    var server = "mock"
    var leavesOpen = LeftOpen.nothing
    /// Whether the lane is bound to be stopped, and is resumed by an operator then.
    var stopsLane = false
    /// Whether it is a fault of connections before any request, of which the trial sees at least so many.
    var isCertain = false
    /// Starts the service for so many notifications.
    let start: @Sendable (_ count: Int) async throws -> any FaultyService

    /// What is left open goes again, or does not: both are tried. Elsewhere there is no difference.
    var guarantees: [Guarantee] { leavesOpen.most == 0 ? [.atLeastOnce] : [.atLeastOnce, .atMostOnce] }
}
