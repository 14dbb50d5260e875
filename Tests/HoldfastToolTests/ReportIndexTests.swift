import Foundation
import Holdfast
import Scratch
import Testing

@testable import HoldfastTool

@Suite("The parts of a report")
struct ReportIndexTests {
    @Test("A UID finds its record, in runs, beside gaps, and where one was taken before")
    func records() {
        var index = ReportIndex()
        for uid in [10, 11, 12, 20, 21, 11, 5, 22] as [UInt64] { index.append(UID(uid)) }
        #expect(index.records(of: UID(12)) == [2])
        #expect(index.records(of: UID(11)) == [1, 5])
        #expect(index.records(of: UID(5)) == [6])
        #expect(index.records(of: UID(22)) == [7])
        #expect(index.records(of: UID(13)).isEmpty && index.records(of: UID(9)).isEmpty)
        #expect((0..<8).map { index.uid($0).rawValue } == [10, 11, 12, 20, 21, 11, 5, 22])
        #expect(index.open == 8)
        let ends = [index.end(1), index.end(1)]
        #expect(ends == [true, false])
        #expect(index.open(from: 0, limit: 3) == [0, 2, 3] && index.open == 7)
    }

    @Test("Of a million the open ones are found, at a bit for each")
    func many() {
        var index = ReportIndex()
        for uid in 1...1_000_000 as ClosedRange<UInt64> { index.append(UID(uid)) }
        for record in 0..<1_000_000 where record != 777_777 { _ = index.end(record) }
        #expect(index.open(from: 0, limit: 10) == [777_777])
        #expect(index.uid(777_777) == UID(777_778))
    }

    @Test("A torn block is told from a whole one, and a record comes back as it was")
    func blocks() throws {
        let state = ReportState(lines: 7, offset: 300, part: 2, records: 9, bytes: 1000, cursor: 12)
        var block = try ReportBlock.encode(state, size: 512)
        #expect(block.count == 512 && ReportBlock.decode(ReportState.self, block) == state)
        block[100] ^= 1
        #expect(ReportBlock.decode(ReportState.self, block) == nil)
        #expect(throws: ToolError.self) { try ReportBlock.encode(String(repeating: "x", count: 600), size: 512) }
        let record = ReportRecord(line: 5, uid: UID(77), id: NotificationID())
        #expect(ReportRecord(record.bytes[...]) == record)
    }

    @Test("What was written behind the last checkpoint is cut off; the newer of two states holds")
    func checkpoints() async throws {
        let folder = try TemporaryFolder()
        let header = ReportHeader(input: "/in", device: 1, inode: 2, journal: "/j", key: [1, 2])
        let file = try ReportFile.create(folder("r"), header, from: OutcomeCursor(4))
        try file.append(Array("{\"line\":1,\"uid\":8}\n".utf8))
        file.append(ReportRecord(line: 1, uid: UID(8), id: NotificationID()))
        try file.checkpoint(lines: 1, offset: 10, part: nil, cursor: OutcomeCursor(5))
        try file.append(Array("{\"line\":2,\"u".utf8))
        file.append(ReportRecord(line: 2, uid: UID(9), id: NotificationID()))
        try file.finish()

        // The run that has it keeps it for itself, until it ends.
        #expect(throws: ToolError.self) { try ReportLock.existing(folder("r")) }
        file.close()
        let again = try ReportFile.open(try #require(try ReportLock.existing(folder("r"))))
        #expect(again.header == header)
        #expect(again.state == ReportState(lines: 1, offset: 10, records: 1, bytes: 19, cursor: 5))
        try again.cut()
        var (records, lines): ([ReportRecord], [Int]) = ([], [])
        try again.replay {
            records.append($0)
        } line: { line, uid in
            #expect(uid == UID(8))
            lines.append(line)
        }
        #expect(records.map(\.uid) == [UID(8)] && lines == [1])
        #expect(try folder.read("r") == "{\"line\":1,\"uid\":8}\n")
        for path in [folder("r"), folder("r.resume")] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        again.close()
        // Any other bytes are an error, and no crash.
        for count in [0, 100, 16_000, 17_000] {
            try folder.write("r.resume", String(repeating: "x", count: count))
            #expect(throws: ToolError.self) {
                try ReportFile.open(try #require(try ReportLock.existing(folder("r"))))
            }
        }
    }

    @Test("A report that a crash left half made is made anew")
    func halfMade() async throws {
        let folder = try TemporaryFolder()
        let header = ReportHeader(input: "/in", device: 1, inode: 2, journal: "/j", key: [1, 2])
        for content in ["", "half"] {
            try folder.write("r.resume", content)
            let lock = try #require(try ReportLock.existing(folder("r")))
            #expect(ReportFile.isUnmade(lock))
            let file = try ReportFile.create(folder("r"), header, from: .start, in: lock)
            #expect(file.header == header && !ReportFile.isUnmade(lock))
            try file.discard()
            file.close()
        }
        let file = try ReportFile.create(folder("r"), header, from: .start)
        try FileManager.default.removeItem(atPath: folder("r"))
        file.close()
        #expect(ReportFile.isUnmade(try #require(try ReportLock.existing(folder("r")))))
        #expect(try ReportLock.existing(folder("other")) == nil)
    }

    @Test("The ids of lines are their own, and the same when they are read again")
    func ids() {
        let ids = LineIDs(key: IdentityKey(first: 1, second: 2))
        #expect(ids.id(line: 1, index: 0) == LineIDs(key: IdentityKey(first: 1, second: 2)).id(line: 1, index: 0))
        let all = Set((1...100).flatMap { line in (0..<3).map { ids.id(line: line, index: $0) } })
        #expect(all.count == 300)
        #expect(all.allSatisfy { "\($0)".split(separator: "-")[2].hasPrefix("4") })
    }

    @Test("A line with many tokens is given in parts, each with the place where the next one goes on")
    func parts() async throws {
        let folder = try TemporaryFolder()
        let tokens = (1...7).map { "\"\(OperatorWorld.token($0))\"" }.joined(separator: ",")
        let small = #"{"token":"\#(OperatorWorld.token(9))","apns-topic":"a","payload":{}}"#
        try folder.write(
            "in", "\(small)\n{bad\n{\"tokens\":[\(tokens)],\"apns-topic\":\"a\",\"payload\":{}}\n\(small)\n")
        let file = try InputFile(folder("in"))
        let key = LineIDs(key: IdentityKey(first: 1, second: 2))
        func batches(after place: FileProgress?) async throws -> [NotificationInput.Batch] {
            let history = try place.map { try #require(try file.history(before: $0.offset)) } ?? []
            try file.seek(to: place?.offset ?? 0)
            var input = NotificationInput(
                file, ids: key, limit: 3, after: place.map { ($0, history) })
            var (parts, start): ([NotificationInput.Batch], FileProgress?) = ([], place)
            while true {
                let batch = try await input.next()
                parts += batch.parts(of: 3, from: start)
                start = batch.progress(of: file)
                if batch.isLast { return parts }
            }
        }
        let all = try await batches(after: nil)
        #expect(all.map(\.notifications.count) == [1, 3, 3, 1, 1])
        #expect(all.map { $0.faults.count } == [1, 0, 0, 0, 0])
        #expect(all.map(\.part) == [nil, 3, 6, nil, nil])
        #expect(all.map(\.lineCount) == [2, 2, 2, 3, 4])
        // After each of them the rest is what comes.
        for index in all.indices.dropLast() {
            let place = try #require(all[index].progress(of: file))
            #expect(place.version == (place.part == nil ? 1 : 2))
            let noted = try FileProgress.decode(try place.noted(), path: "x")
            let rest = try await batches(after: noted)
            #expect(rest.flatMap(\.notifications).map(\.id) == all[(index + 1)...].flatMap(\.notifications).map(\.id))
        }
    }
}
