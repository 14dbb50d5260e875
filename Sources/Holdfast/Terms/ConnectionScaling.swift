/// How the number of a route's connections follows the number of waiting entries, if each notification is answered. (If only
/// errors are answered, the route makes another connection as soon as the others are full, and closes none.)
///
/// The defaults are those of the self-scaling pools that senders use for Apple's service. Apple asks for few, long-lived
/// connections, and takes rapid opening and closing for an attack.
public struct ConnectionScaling: Hashable, Sendable {
    /// The connections to keep, once there was something to send. At least 1, at most ``Route/connections``. Default: 1.
    public var minimum = 1
    /// The route makes another connection when more entries than this wait for ``growAfter``. Default: 200.
    public var growAbove = 200
    /// The uninterrupted time for ``growAbove``. Default: 10 s.
    public var growAfter: Duration = .seconds(10)
    /// The route closes its youngest connection, in an orderly way, when fewer entries than this wait for ``shrinkAfter``.
    /// Default: 50.
    public var shrinkBelow = 50
    /// The uninterrupted time for ``shrinkBelow``. Default: 5 minutes.
    public var shrinkAfter: Duration = .seconds(300)

    /// Creates the default scaling.
    public init() {}
}
