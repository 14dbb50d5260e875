internal import Holdfast

/// The other end of a connection, stepped by the world.
protocol Peer: AnyObject {
    var route: Int { get }
    /// The number of the Consumer whose connection it is.
    var consumer: Int { get }
    var number: Int { get }
    var life: Int { get }
    var isOver: Bool { get }
    /// The turn before which the engine was told that the connection takes nothing more.
    var toldToStopInTurn: Int? { get }
    /// Entries that count against its capacity.
    var unanswered: Int { get }
    var capacity: Int { get }
    /// When there will be something to do; nil when only the engine can bring more.
    var nextDue: Duration? { get }
    func progress()
    /// The process was killed.
    func abandon()
}
