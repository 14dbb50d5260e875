/// How the number of a route's connections follows what waits, where each notification is answered. (Where only errors
/// are answered, another connection is made as soon as those that are there take no more, and none is taken away.)
///
/// The figures are those of the self-scaling pools that senders use in front of Apple, which asks for few connections that
/// live long: rapid opening and closing is taken for an attack.
public struct ConnectionScaling: Hashable, Sendable {
    /// So many are kept, once there was something to send. At least 1, at most ``Route/connections``. Default: 1.
    public var minimum = 1
    /// One more is made when more than this many entries wait … Default: 200.
    public var growAbove = 200
    /// … for this long in one piece. Default: 10 s.
    public var growAfter: Duration = .seconds(10)
    /// The youngest is closed, in order, when fewer than this many entries wait … Default: 50.
    public var shrinkBelow = 50
    /// … for this long in one piece. Default: 5 minutes.
    public var shrinkAfter: Duration = .seconds(300)

    /// Creates the default scaling.
    public init() {}
}
