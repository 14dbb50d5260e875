internal import Foundation

/// A directory of data that initdb made once for the process, since it takes a second, and copying it a tenth.
struct Template: Sendable {
    let data: String
    private let keeper: Keeper

    static let shared: Result<Template, any Error> = Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pg-new-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try PostgresProgram.run(["chown", "postgres:", folder]) }
        let keeper = try Keeper(folder)
        let data = "\(folder)/data"
        try PostgresProgram.run(
            "initdb",
            [
                "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync",
                "--no-instructions",
                "--wal-segsize=1",
            ])
        let access = """
            local     all          all                     trust
            local     replication  all                     trust
            host      all          secret     127.0.0.1/32 scram-sha-256
            hostssl   all          certified  127.0.0.1/32 cert
            host      all          certified  127.0.0.1/32 reject
            host      all          all        127.0.0.1/32 trust
            """
        try Data(access.utf8).write(to: URL(fileURLWithPath: "\(data)/pg_hba.conf"))
        try PostgresProgram.run(
            PostgresProgram.prefix + [
                "sh", "-c", "echo \"\(users)\" | \(PostgresProgram.folder!)/postgres --single -D \(data) postgres",
            ])
        return Template(data: data, keeper: keeper)
    }

    private static let users = """
        CREATE ROLE plain LOGIN;
        CREATE ROLE certified LOGIN;
        CREATE ROLE secret LOGIN PASSWORD 'correct horse';
        """
}
