internal import Foundation
package import Holdfast
package import HoldfastJournal
internal import HoldfastPQ
package import HoldfastPostgres

/// `journal.postgres` and what goes with it: the journals of many hosts in one database.
package struct PostgresSettings: Equatable, Sendable {
    /// For libpq. May have a password.
    package var connection: String
    /// `nil` for the system's name.
    package var host: String?
    package var schema: String

    package init(connection: String, host: String? = nil, schema: String) {
        self.connection = connection
        self.host = host
        self.schema = schema
    }

    /// This host's name in the fleet.
    package var hostName: String { host ?? Self.systemName }

    /// The system's name without its domain, which may come and go with the network.
    private static var systemName: String {
        let name = ProcessInfo.processInfo.hostName.split(separator: ".").first.map(String.init) ?? "host"
        return String(name.prefix(48))
    }

    static func fault(_ schema: String) -> String? {
        do throws(SchemaError) {
            _ = try SchemaName(schema)
            return nil
        } catch {
            return error.description
        }
    }

    /// - Throws: ``JournalError`` for settings that were found good before, and a file of the connection string that is gone.
    package func terms(_ options: JournalOptions) throws(JournalError) -> HostTerms {
        do {
            return HostTerms(
                target: try PQTarget(connection), schema: try SchemaName(schema), host: hostName, options: options)
        } catch {
            throw JournalError(.configuration, "journal.postgres can't be used: \(error)")
        }
    }
}
