public import Holdfast

/// A push service that does as it is told, with a connector to it: what the author of a connector provides for
/// ``ConnectorConformance``.
public protocol ScriptedService: Sendable {
    /// The connector under test, which reaches this service.
    var connector: any Connector { get }

    /// Does this from now on, until it is told otherwise.
    ///
    /// - Returns: false when it can't; rules that need it are passed over.
    func follow(_ order: ServiceOrder) async throws -> Bool
}

/// What a ``ScriptedService`` is told.
public enum ServiceOrder: Hashable, Sendable, CaseIterable {
    /// Takes connections and every notification, as it does when it was told nothing yet. (A service that answers each
    /// notification confirms each.)
    case accept
    /// Refuses every notification, for good. (A service that answers errors only names the first that it is sent from now
    /// on, and closes.)
    case refuse
    /// Reads, and answers nothing.
    case staySilent
    /// Ends the connections that there are, at once and without a word, and goes on as before.
    case close
    /// Takes no new connections.
    case turnAway
}

/// The rules that every ``Holdfast/Connector`` keeps, to be checked on yours. Needs no test framework.
///
///     let conformance = ConnectorConformance { MyScriptedService() }
///
///     @Test(arguments: ConnectorConformance.rules(for: .perNotification))
///     func keeps(rule: ConnectorConformance.Rule) async throws {
///         try await conformance.check(rule)
///     }
///
/// Each rule gets a service of its own. What a connector does wrong on the way, such as answering a ticket twice, breaks
/// whichever rule is being checked.
public struct ConnectorConformance: Sendable {
    /// One rule, with its check.
    public struct Rule: Hashable, Sendable, CustomStringConvertible {
        /// The rule, as a sentence.
        public let name: String
        let body: @Sendable (ConnectorBench) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (ConnectorBench) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// The rule's name.
        public var description: String { name }
        /// Compares names, which are unique.
        public static func == (lhs: Rule, rhs: Rule) -> Bool { lhs.name == rhs.name }
        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// The rules for connectors that confirm in this way, for a test framework to take as arguments.
    public static func rules(for mode: ConfirmationMode) -> [Rule] {
        switch mode {
        case .perNotification: connections + answers
        case .cumulative: connections + positions
        }
    }

    let make: @Sendable () async throws -> any ScriptedService
    let patience: Duration

    /// - Parameters:
    ///   - patience: how long an event may take before it counts as never come. Default: 10 s.
    ///   - make: gives a service of its own each time.
    public init(patience: Duration = .seconds(10), make: @escaping @Sendable () async throws -> any ScriptedService) {
        self.make = make
        self.patience = patience
    }

    /// Checks one rule.
    ///
    /// - Throws: ``ConformanceFailure``.
    public func check(_ rule: Rule) async throws(ConformanceFailure) {
        do {
            let bench = ConnectorBench(try await make(), patience: patience)
            do {
                try await rule.body(bench)
                try await bench.finish()
            } catch is PassedOver {
                try await bench.finish()
            }
        } catch {
            throw Deviation.failure(error, of: rule.name)
        }
    }
}

/// Thrown when a service can't do what a rule needs.
struct PassedOver: Error {}
