internal import Foundation
internal import Holdfast
internal import HoldfastService

/// The directories that `holdfast init` makes, and whether the service can use them.
extension ServiceSetup {
    /// The things that were made, each with its purpose.
    struct MadeDirectories {
        var made: [Made.Item] = []

        /// Removes them, if nothing is in them.
        func undo() {
            for item in made.reversed() {
                guard (try? FileManager.default.contentsOfDirectory(atPath: item.path))?.isEmpty == true else {
                    continue
                }
                ServiceSetup.remove(item.path)
            }
        }
    }

    func makeDirectories(_ made: inout MadeDirectories) throws {
        let readable =
            account.map { FileRights(userID: 0, groupID: $0.group.id, mode: 0o750) } ?? FileRights(mode: 0o700)
        let own =
            account.map { FileRights(userID: $0.userID, groupID: $0.group.id, mode: 0o700) } ?? FileRights(mode: 0o700)
        let parent = Self.parent(journal)
        let wanted =
            [
                (directory, readable, "the directory of the configuration"),
                ("\(directory)/tls", readable, "the directory of the certificates"),
            ]
            + (parent == directory ? [] : [(parent, own, "the directory of the journal")])
        for (path, rights, meaning) in wanted {
            var places: [String] = []
            defer {
                made.made += places.map { .init(path: $0, meaning: $0 == path ? meaning : "on the way to \(path)") }
            }
            try SetupDirectory.make(path, rights, above: readable, made: &places)
            try refuseObstacle(on: path, meaning == wanted.last?.2 && path == parent ? "--journal" : "--directory")
        }
        if FileManager.default.fileExists(atPath: journal), !SetupDirectory.isDirectory(journal) {
            throw ToolError(.cannotOpen, "\(journal) is not a directory: choose another --journal")
        }
        guard let account, !FileManager.default.fileExists(atPath: journal) || PathOwner(journal)?.userID == 0 else {
            return
        }
        if FileManager.default.fileExists(atPath: journal) {
            throw ToolError(
                .noPermission,
                "\(journal) is root's, and the service runs as \(account.name): "
                    + giveAway(
                        journal, account, wholly: FileManager.default.fileExists(atPath: "\(journal)/entries/data.mdb"))
            )
        }
        if let owner = PathOwner(parent), !owner.allows(account, 0o3) {
            throw ToolError(
                .noPermission,
                "user \(account.name) can't make the journal in \(parent) (\(owner.description)): "
                    + giveAway(parent, account, wholly: false))
        }
    }

    /// Advice that can be followed without harm to what others have there.
    ///
    /// - Parameter wholly: whether it is a journal, whose files go along.
    private func giveAway(_ path: String, _ account: SystemAccount, wholly: Bool) -> String {
        let isEmpty = (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty == true
        guard wholly || isEmpty, !Self.shared.contains(path) else { return "choose another --journal" }
        let command = "chown \(wholly ? "-R " : "")\(account.name): \(ShellText.word(path))"
        return "`\(command)`, or choose another --journal"
    }

    /// Directories of the whole machine, whose rights are not to be changed for a service.
    private static let shared: Set = [
        "/", "/root", "/etc", "/home", "/var", "/var/lib", "/usr", "/opt", "/srv", "/run", "/tmp", "/var/tmp", "/mnt",
    ]

    private func refuseObstacle(on path: String, _ flag: String) throws(ToolError) {
        guard let account, let obstacle = account.obstacle(on: path) else { return }
        let place = ShellText.word(obstacle.path)
        let change =
            Self.shared.contains(obstacle.path)
            ? "" : "`chgrp \(account.group.name) \(place) && chmod g+x \(place)`, or "
        throw ToolError(
            .noPermission,
            """
            user \(account.name) can't enter \(obstacle.path) (\(obstacle.description)): \
            \(change)choose another \(flag)
            """)
    }
}
