import Foundation
import Scratch
import Testing

/// A block of the history that is damaged on disk, and what a running service and the tool tell of it.
@Suite("A damaged history, on every way", .serialized, .timeLimit(.minutes(3)))
struct HistoryDamageTests {
    private static let token = "0123456789abcdef0123456789abcdef"
    private static let count = 200

    /// Flips a bit of every copy of the second block that lies in the file.
    ///
    /// - Returns: the cursors of its outcomes.
    private func damage(_ journal: String) throws -> ClosedRange<Int> {
        let file = URL(fileURLWithPath: journal + "/entries/data.mdb")
        var data = try Data(contentsOf: file)
        func number(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(data[place + $1]) << (8 * $1) }
        }
        var blocks: [Int: [Int]] = [:]
        var start = data.startIndex
        while let found = data.range(of: Data("HFob".utf8), in: start..<data.endIndex) {
            start = found.upperBound
            blocks[number(found.lowerBound + 8, 8), default: []].append(found.lowerBound)
        }
        let firsts = blocks.keys.sorted()
        try #require(firsts.count > 2 && firsts[0] == 1)
        for place in blocks[firsts[1]] ?? [] { data[place + 48] ^= 1 }
        let handle = try FileHandle(forUpdating: file)
        try handle.write(contentsOf: data)
        try handle.close()
        return firsts[1]...(firsts[2] - 1)
    }

    private func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("The list, a search, the page, the stream, the status, the log and the readiness tell it") func told()
        async throws
    {
        let world = try await ServiceWorld()
        try world.folder.write("operators", Self.token)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.folder("operators"))
        try world.writeConfiguration(admin: ", token-file: operators")
        try await world.serve()
        #expect(try await world.send(Self.count, journal: "one").result().status == 0)
        #expect(try await world.stop().status == 0)
        let journal = world.folder("push.journal")
        let lost = try damage(journal)
        let list = try await Tool.run("outcomes", "list", "--journal", journal, "--json", "--limit", "1000")
        let listed = try lines(list.output)
        #expect(list.status == 0 && list.errors.contains("cannot be read"), "\(list.errors)")
        #expect(listed.compactMap { $0["missed"] as? Int } == [lost.count])
        #expect(listed.compactMap { $0["unreadable"] as? Int } == [lost.count])
        #expect(listed.compactMap { $0["cursor"] as? Int } == (1...Self.count).filter { !lost.contains($0) })
        let uid = try #require(
            Set(1...Self.count).subtracting(listed.compactMap { $0["uid"] as? Int }).min())
        let find = try await Tool.run("journal", "find", "--journal", journal, "--uid", "\(uid)")
        #expect(find.status == 72 && find.errors.contains("could not be looked at"), "\(find.errors)")
        let json = try await Tool.run("journal", "find", "--journal", journal, "--uid", "\(uid)", "--json")
        #expect(try lines(json.output).last?["unreadable"] as? Int == lost.count, "\(json.output)")

        try await world.serve()
        #expect(try !(await world.get("/health/ready")).text.contains("history"))
        let token = "authorization: Bearer \(Self.token)\r\n"
        let page = try await world.get("/outcomes?after=\(lost.lowerBound - 1)", fields: token)
        #expect(try lines(page.text).first?["missed"] as? Int == lost.count, "\(page.text)")
        #expect(try lines(page.text).first?["unreadable"] as? Int == lost.count)
        let found = try await world.get("/outcomes?uid=\(uid)", fields: token)
        #expect(try lines(found.text).first?["unreadable"] as? Int == lost.count, "\(found.text)")
        let port = try #require(try world.port("health and metrics on "))
        let stream = try RunningTool(
            [
                "-sSN", "-H", "Authorization: Bearer \(Self.token)",
                "http://127.0.0.1:\(port)/outcomes/stream?after=0",
            ], program: "/usr/bin/curl")
        let gap = "event: gap\ndata: {\"missed\":\(lost.count),\"unreadable\":\(lost.count)}\n"
        #expect(try await waitUntil { try stream.output.contains("id: \(Self.count)\n") })
        // In its place.
        let text = try stream.output
        #expect(text.contains("id: \(lost.upperBound)\n\(gap)\nid: \(lost.upperBound + 1)\n"), "\(text.prefix(300))")
        stream.kill(SIGKILL)
        let ready = try await world.get("/health/ready")
        #expect(ready.status == 200 && ready.text.contains("the history is damaged: \(lost.count) outcomes"))
        #expect(try world.log.components(separatedBy: "the history is damaged").count == 2)
        let status = try await Tool.run("journal", "status", "--journal", journal, "--json")
        #expect(try lines(status.output).first?["unreadableOutcomes"] as? Int == lost.count, "\(status.output)")
        #expect(try await world.stop().status == 0)
    }
}
