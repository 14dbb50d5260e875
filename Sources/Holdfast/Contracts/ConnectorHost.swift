/// The engine's services for a connector, from ``Connector/begin(_:)`` until the engine ends.
///
/// Callable from any thread. A call blocks for a read of the journal at most, and has no effect once the engine has ended.
/// A connector that serves several routes, or several engines in turn, gets one host for each.
public struct ConnectorHost: Sendable {
    /// The calls of a connector, as the engine serves them.
    package protocol Services: AnyObject, Sendable {
        func note(_ name: String) -> [UInt8]?
        func setNote(_ name: String, to value: [UInt8]?)
        func credentialsChanged()
        func report(_ notice: ConnectorNotice)
    }

    /// The name of the route that the connector serves.
    public let route: String
    /// Weak: a host that has ended answers nothing.
    private weak let services: (any Services)?

    package init(route: String, services: any Services) {
        self.route = route
        self.services = services
    }

    /// Whether the engine has ended, so that calls have no effect.
    package var hasEnded: Bool { services == nil }

    /// Where the name of a connector's note begins in the journal, so that it meets no other.
    package static let notePrefix = "connector:"

    /// Reads a note that a connector of this process or an earlier one left in the journal.
    ///
    /// - Parameter name: 1 to 400 bytes, shared by all routes of a journal: include the connector's own name.
    /// - Returns: the note; `nil` if there is none, or the journal can't be read.
    public func note(_ name: String) -> [UInt8]? { services?.note(name) }

    /// Stores a note in the journal, or removes it with `nil`. It becomes durable some time after the call returns, and is
    /// lost if the disk is full, so nothing may depend on it.
    public func setNote(_ name: String, to value: [UInt8]?) { services?.setNote(name, to: value) }

    /// Reports that the connector uses other credentials or trusted certificates from now on. Lanes that stopped because the
    /// service refused the old ones run again, and the next connection is tried at once.
    public func credentialsChanged() { services?.credentialsChanged() }

    /// Reports something to operators: as a log line and an ``EngineEvent/notice(route:_:)``.
    public func report(_ notice: ConnectorNotice) { services?.report(notice) }
}

/// A connector's message to operators.
public struct ConnectorNotice: Hashable, Sendable, CustomStringConvertible {
    /// The kind of notice: a short name with dashes. A connector may report kinds of its own.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name, as it is logged.
        public let rawValue: String
        /// Creates a kind from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// New credentials are in use.
        public static let credentialsReloaded = Kind(rawValue: "credentials-reloaded")
        /// Changed credentials can't be used; the old ones stay in use.
        public static let credentialsNotReloaded = Kind(rawValue: "credentials-not-reloaded")
        /// A certificate ends soon, or has ended.
        public static let credentialsExpire = Kind(rawValue: "credentials-expire")
        /// One of the service's addresses does not answer as it should, and is left out for a while.
        public static let addressQuarantined = Kind(rawValue: "address-quarantined")
        /// The service's certificate is verified except for the name in it, because the configuration says so.
        public static let hostNameUnverified = Kind(rawValue: "host-name-unverified")
    }

    /// The kind of notice, for filters and metrics.
    public let kind: Kind
    /// In words, without secrets: what happened, to what, and what to do.
    public let message: String

    /// Whether somebody must act within a day.
    package let isUrgent: Bool

    /// Creates a notice.
    ///
    /// - Parameter message: words for operators, without secrets.
    public init(_ kind: Kind, _ message: String) { self.init(kind, message, isUrgent: false) }

    package init(_ kind: Kind, _ message: String, isUrgent: Bool) {
        self.kind = kind
        self.message = message
        self.isUrgent = isUrgent
    }

    /// Whether an operator should act: true of every kind but ``Kind/credentialsReloaded``.
    public var isWarning: Bool { kind != .credentialsReloaded }

    /// The ``message``.
    public var description: String { message }
}
