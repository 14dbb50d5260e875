internal import HoldfastPlatform

/// Where to connect, and as whom: a connection string that has been read and checked.
///
/// The string is libpq's, with its variables of the environment (`PGHOST`, `PGPASSWORD`, …), `PGSERVICE` and `~/.pgpass`
/// beneath it. `service=` in the string itself is refused.
package struct PQTarget: Sendable, CustomStringConvertible, CustomReflectable {
    /// Which servers will do: libpq's `target_session_attrs`.
    package enum Role: String, Hashable, Sendable {
        case any
        case readWrite = "read-write"
        case readOnly = "read-only"
        case primary
        case standby
        case preferStandby = "prefer-standby"
    }

    /// The string's own values, with the password.
    let values: [String: String]
    private(set) var places: [PQPlace]
    package private(set) var role: Role
    /// What is known of the servers; nil where nobody keeps a book of them.
    package var servers: PQServers?
    /// Whether the authorities to trust are named.
    private let hasRoot: Bool
    /// The `options` of the string, or of `PGOPTIONS`.
    private let ownOptions: String?
    /// `nil` when the string leaves it to the place: see ``PQSecurity``.
    let security: PQSecurity?
    package let database: String?
    package let user: String?

    /// - Throws: `configuration`. The message has no part of the string that may be a secret.
    package init(_ text: String) throws(PQError) {
        var values = try ConnectionString.parse(text)
        let defaults = ConnectionString.defaults()
        let known = defaults.merging(values) { _, own in own }
        func value(_ keyword: String) -> String? { known[keyword] }

        if values["service"] != nil {
            throw PQError(
                .configuration,
                "the connection string for PostgreSQL names a service: write its values in its place, or set PGSERVICE")
        }
        places = try PQPlaces.read(Self.hosts(values, defaults))
        guard let role = Role(rawValue: value("target_session_attrs") ?? "any") else {
            throw PQError(
                .configuration, "the connection string for PostgreSQL has a target_session_attrs that does not exist")
        }
        self.role = role
        security = try Self.security(values, defaults)
        try Self.checkVersion(value("ssl_min_protocol_version"))
        if let root = values["sslrootcert"], root != "system", !SystemRoots.isReadable(root) {
            throw PQError(
                .configuration, "the file of sslrootcert can't be read: \(root): \(SystemReason.words(errno))")
        }
        database = value("dbname") ?? value("user")
        user = value("user")
        values["ssl_min_protocol_version"] = value("ssl_min_protocol_version") ?? "TLSv1.2"
        hasRoot = value("sslrootcert") != nil
        ownOptions = value("options")
        self.values = values
    }

    /// Without the password.
    package var description: String {
        "\(database ?? "the user's database") at \(places.map(\.words).joined(separator: ", "))"
    }

    /// Without the values, for whoever prints what things are made of.
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// A string that names hosts does without the variables for them, as with libpq.
    private static func hosts(_ values: [String: String], _ defaults: [String: String]) -> [String: String] {
        var found: [String: String] = [:]
        let namesHost = values["host"] != nil || values["hostaddr"] != nil
        for keyword in ["host", "hostaddr"] { found[keyword] = namesHost ? values[keyword] : defaults[keyword] }
        found["port"] = values["port"] ?? defaults["port"]
        return found
    }

    private static func security(
        _ values: [String: String], _ defaults: [String: String]
    ) throws(PQError) -> PQSecurity? {
        let found: String
        if let value = values["sslmode"] {
            found = value
        } else if let value = defaults["sslmode"], value != "prefer" || ConnectionString.isSet("PGSSLMODE") {
            found = value
        } else {
            return nil
        }
        guard let security = PQSecurity(rawValue: found) else {
            let known = PQSecurity.allCases.map(\.rawValue).joined(separator: ", ")
            throw PQError(.configuration, "the sslmode for PostgreSQL does not exist; there are \(known)")
        }
        return security
    }

    private static func checkVersion(_ value: String?) throws(PQError) {
        guard let value, !value.isEmpty else { return }
        guard value == "TLSv1.2" || value == "TLSv1.3" else {
            throw PQError(
                .configuration, "the ssl_min_protocol_version for PostgreSQL must be TLSv1.2 or TLSv1.3")
        }
    }
}

extension PQTarget {
    /// The same for one server, whether it can be written to or not.
    func only(_ place: PQPlace) -> PQTarget {
        var target = self
        (target.places, target.role, target.servers) = ([place], .any, nil)
        return target
    }

    /// Whether the string names several servers.
    package var hasSeveralServers: Bool { places.count > 1 }

    /// How a connection to a place is protected.
    func security(at place: PQPlace) -> PQSecurity { security ?? .standard(for: place) }

    /// What libpq is told for one place.
    ///
    /// - Parameter settings: those with which the session begins. They win over the string's own, and over those of the role.
    func options(
        for place: PQPlace, role: Role, applicationName: String, settings: [String: String] = [:]
    ) -> [String: String] {
        var options = Self.standard.merging(values) { _, own in own }
        if ConnectionString.isSet("PGGSSENCMODE") { options["gssencmode"] = values["gssencmode"] }
        options["host"] = place.host.isEmpty ? nil : place.host
        options["hostaddr"] = place.address
        options["port"] = place.port
        options["target_session_attrs"] = role.rawValue
        options["client_encoding"] = "UTF8"
        if !settings.isEmpty { options["options"] = StartUpOptions.adding(settings, to: ownOptions) }
        if values["application_name"] == nil { options["application_name"] = applicationName }
        let security = security(at: place)
        options["sslmode"] = security.rawValue
        if security.needsRoot, !hasRoot, !Self.hasOwnRoot, let path = SystemRoots.path {
            options["sslrootcert"] = path
        }
        return options
    }

    /// Where the string says nothing else. A peer that is silent is noticed within half a minute even when nobody waits for
    /// it. Kerberos is not tried by itself, since its library talks to servers of its own, without a deadline.
    private static let standard = [
        "gssencmode": "disable", "keepalives": "1", "keepalives_idle": "10",
        "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "25000",
    ]

    /// libpq's own file of roots, which is taken before the system's.
    private static var hasOwnRoot: Bool {
        guard let home = unsafe getenv("HOME") else { return false }
        return SystemRoots.isReadable(unsafe String(cString: home) + "/.postgresql/root.crt")
    }
}
