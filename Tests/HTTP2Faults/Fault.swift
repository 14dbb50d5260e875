import Holdfast

/// One way in which a service misbehaves, and what may come of it.
struct Fault: Sendable {
    /// The most streams that a service of the matrix allows on a connection, and so the most that one fault of a connection
    /// can leave open.
    static let streams = 100

    /// What a fault leaves open: what the service may have taken, and the sender cannot know. (Docs/Reference/Answers.md.)
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

    /// A setting for what a trial would otherwise wait for too long. All others run with the defaults of the engine and of the
    /// connector.
    struct Shortening: Sendable {
        /// Names what is set, and what it is by default: for the table.
        let words: String
        let apply: @Sendable (inout EngineConfiguration) -> Void
    }

    /// For `--only`.
    let name: String
    /// What happens, for the table.
    let what: String
    /// Who serves it, for the table.
    var server = "mock"
    var leavesOpen = LeftOpen.nothing
    /// Whether the lane may stop. No operator resumes it.
    var stopsLane = false
    /// How often the fault may happen, where that is up to the engine: a service that refuses is asked less, not more.
    var greatestFaults: Int?
    /// Settings other than the defaults, of this trial alone.
    var shortening: Shortening?
    /// Starts the service for so many notifications.
    let start: @Sendable (_ count: Int) async throws -> any FaultyService

    /// What is left open goes again, or does not: both are tried. Elsewhere there is no difference.
    var guarantees: [Guarantee] { leavesOpen.most == 0 ? [.atLeastOnce] : [.atLeastOnce, .atMostOnce] }

    /// What happens, and which setting is not the default.
    var words: String { shortening.map { "\(what) (\($0.words))" } ?? what }
}
