/// What the engine does for a connector that it serves, from ``Connector/begin(_:)`` until the engine ends.
///
/// Callable from any thread, and never blocks for longer than a read of the journal; nothing happens any more once the
/// engine has ended. A connector that serves several routes, or several engines in turn, is given one for each.
public struct ConnectorHost: Sendable {
    /// What a connector may ask for, by whoever hosts it.
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

    /// Nobody listens any more: the engine has ended.
    package var hasEnded: Bool { services == nil }

    /// Where the name of a connector's note begins in the journal, so that it meets no other.
    package static let notePrefix = "connector:"

    /// What a connector left in the journal under `name`, by this process or an earlier one; nil where there is nothing, or
    /// where the journal can't be read.
    ///
    /// - Parameter name: 1 to 400 bytes, the same for all routes of a journal: say what it is, and whose.
    public func note(_ name: String) -> [UInt8]? { services?.note(name) }

    /// Leaves something in the journal, or with nil takes it away. On disk some time after it returns; what a full disk
    /// refuses is forgotten, so nothing may depend on it.
    public func setNote(_ name: String, to value: [UInt8]?) { services?.setNote(name, to: value) }

    /// The connector sends with other credentials from now on, or trusts others: lanes that the service's refusal of the
    /// old ones has stopped run again, and what waits for a connection does not wait any longer.
    public func credentialsChanged() { services?.credentialsChanged() }

    /// Something that operators should know of: it becomes a log line and an ``EngineEvent/notice(route:_:)``.
    public func report(_ notice: ConnectorNotice) { services?.report(notice) }
}

/// What a connector has noticed, for operators.
public struct ConnectorNotice: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// New credentials are in use.
        case credentialsReloaded = "credentials-reloaded"
        /// Changed credentials can't be used; the old ones stay in use.
        case credentialsNotReloaded = "credentials-not-reloaded"
        /// A certificate ends soon, or has ended.
        case credentialsExpire = "credentials-expire"
        /// One of the service's addresses does not answer as it should, and is left out for a while.
        case addressQuarantined = "address-quarantined"
        /// The service's certificate is checked, and the name in it is not: by configuration.
        case hostNameUnverified = "host-name-unverified"
    }

    public let kind: Kind
    /// In words, without secrets: what happened, to what, and what to do.
    public let message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Whether somebody should do something about it.
    public var isWarning: Bool { kind != .credentialsReloaded }

    public var description: String { message }
}
