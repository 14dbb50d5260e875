import Foundation
import Scratch
import Testing

@testable import HoldfastService

@Suite("Secrets that others may read", .timeLimit(.minutes(1))) struct OpenedSecretsTests {
    private func warnings(_ folder: TemporaryFolder, _ text: String) throws -> [String] {
        try folder.write("c.yaml", text)
        return OpenedSecrets(try HoldfastConfiguration.load(file: folder("c.yaml"))).warnings
    }

    private func make(_ folder: TemporaryFolder, _ name: String, _ mode: Int) throws {
        try folder.write(name, "")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder(name))
    }

    @Test("Each key, passphrase and journal that is open is named once, with what closes it") func open() throws {
        let folder = try TemporaryFolder()
        try make(folder, "key.p8", 0o644)
        try make(folder, "client.pem", 0o644)
        try make(folder, "client.key", 0o604)
        try make(folder, "server.pem", 0o644)
        try make(folder, "server.key", 0o666)
        try make(folder, "pass", 0o444)
        try make(folder, "server.pass", 0o604)
        try FileManager.default.createDirectory(atPath: folder("push.journal"), withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: folder("push.journal"))
        try FileManager.default.createSymbolicLink(atPath: folder("link.p8"), withDestinationPath: folder("key.p8"))
        let words = try warnings(
            folder,
            """
            journal: {path: push.journal}
            routes:
              - {name: a, topics: [a], endpoint: "https://127.0.0.1:1", signing-key: {file: link.p8, key-id: K, team-id: T}}
              - {name: b, topics: [b], endpoint: "https://127.0.0.1:1", signing-key: {file: link.p8, key-id: K, team-id: T}}
              - name: c
                topics: [c]
                endpoint: "https://127.0.0.1:1"
                certificate: {file: client.pem, key: client.key, passphrase-file: pass}
            gateway: {http2: {listen: "127.0.0.1:0", certificate: server.pem, key: server.key, passphrase-file: server.pass}}
            """)
        #expect(
            words.map { $0.prefix { $0 != " " }.split(separator: "/").last } == [
                "link.p8", "client.key", "pass", "server.key", "server.pass", "the",
            ], "\(words)")
        #expect(words.first?.contains("(mode 0644): `chmod o= ") == true)
        #expect(words.last?.contains("(mode 0750)") == true)
    }

    @Test("What its user and a group may read, and a journal that is not there, is not talked about") func closed()
        throws
    {
        let folder = try TemporaryFolder()
        try make(folder, "key.p8", 0o640)
        try make(folder, "server.pem", 0o644)
        try make(folder, "server.key", 0o600)
        let words = try warnings(
            folder,
            """
            journal: {path: push.journal}
            routes: [{endpoint: "https://127.0.0.1:1", signing-key: {file: key.p8, key-id: K, team-id: T}}]
            gateway: {http2: {listen: "127.0.0.1:0", certificate: server.pem, key: server.key}}
            """)
        #expect(words.isEmpty, "\(words)")
    }
}
