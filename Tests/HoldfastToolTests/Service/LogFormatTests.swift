import Foundation
import Holdfast
import Logging
import Scratch
import Testing

@testable import HoldfastService
@testable import HoldfastTool

@Suite("Formats of the log")
struct LogFormatTests {
    private let line = LogLineText(
        level: .warning, message: "it is\nbad", label: "holdfast",
        metadata: [
            "event": "service-away", "affected": .stringConvertible(12), "lasted-s": .stringConvertible(1.5),
            "level": "x", "names": .array(["a", "b\nc"]), "isThrough": .stringConvertible(true),
            "uid": .stringConvertible(UID(1 << 40)),
        ])

    @Test("JSON is an object a line, with the metadata as members, numbers as numbers, and its own names kept")
    func json() throws {
        let text = line.json(at: WallTime(seconds: 0))
        #expect(!text.contains("\n"))
        let object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["time"] as? String == "1970-01-01T00:00:00Z" && object["level"] as? String == "warning")
        #expect(object["message"] as? String == "it is · bad" && object["logger"] as? String == "holdfast")
        #expect(object["affected"] as? Int == 12 && object["lasted-s"] as? Double == 1.5)
        #expect(object["isThrough"] as? Bool == true && object["metadata-level"] as? String == "x")
        #expect((object["names"] as? [String])?.count == 2 && object["uid"] as? Int == 1 << 40)
    }

    @Test("A line behind one that was cut off, as by a full disk, is a line of its own") func cut() throws {
        let pipe = Pipe()
        let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
        _ = fcntl(writing.fileDescriptor, F_SETFL, O_NONBLOCK)
        var writer = LineWriter()
        writer.write("first\n", to: writing)
        #expect(!writer.isCut)
        // More than a pipe holds.
        writer.write(String(repeating: "x", count: 1 << 20) + "\n", to: writing)
        #expect(writer.isCut)
        // Enough of it is taken to make room.
        let text = String(decoding: reading.availableData, as: UTF8.self)
        writer.write("last\n", to: writing)
        #expect(!writer.isCut)
        try writing.close()
        let lines = try (text + String(decoding: reading.readToEnd() ?? Data(), as: UTF8.self)).split(separator: "\n")
        #expect(lines.count == 3 && lines.first == "first" && lines.last == "last")
    }

    @Test("systemd's journal gets the priority and the metadata as fields, and nothing can pass for another field")
    func journald() {
        let hostile = LogLineText(
            level: .error, message: "m", label: "l", metadata: ["a b": "x\nPRIORITY=0", "event": "e"])
        let text = String(decoding: line.entry, as: UTF8.self)
        for field in [
            "MESSAGE=it is · bad\n", "PRIORITY=4\n", "SYSLOG_IDENTIFIER=holdfast\n", "HOLDFAST_EVENT=service-away\n",
            "HOLDFAST_AFFECTED=12\n", "HOLDFAST_LASTED_S=1.5\n",
        ] {
            #expect(text.contains(field), "\(text)")
        }
        #expect(!String(decoding: hostile.entry, as: UTF8.self).contains("\nPRIORITY=0"))
        #expect(String(decoding: hostile.entry, as: UTF8.self).contains("HOLDFAST_A_B"))
    }

    @Test(
        "Entries go to the journal's socket, and where there is none the lines go to standard error, and nothing ends")
    func socket() async throws {
        let name = "@holdfast-\(UUID().uuidString)"
        let socket = try NotifySocket(name)
        let console = Console(isInteractive: false, usesColor: false)
        let log = ServiceLog(console, level: .info, format: .journald, environment: [:], journal: name)
        log.logger("holdfast.gateway").warning("it is bad", metadata: ["event": "cannot-accept"])
        #expect(await waitUntil { !socket.heard.isEmpty })
        #expect(socket.heard.first?.contains("HOLDFAST_LOGGER=holdfast.gateway\n") == true, "\(socket.heard)")
        #expect(socket.heard.first?.contains("HOLDFAST_EVENT=cannot-accept\n") == true)
        let other = ServiceLog(console, level: .info, format: .journald, environment: [:], journal: name + "-none")
        other.logger().info("this test has no journal of systemd")
    }

    @Test("Of more lines than a second takes the rest is counted, and said by the next one")
    func budget() {
        var budget = LineBudget(limit: 3)
        #expect((0..<5).map { _ in budget.take(at: .zero) } == [0, 0, 0, nil, nil])
        #expect(budget.take(at: .milliseconds(999)) == nil)
        #expect(budget.take(at: .seconds(1)) == 3)
        #expect(budget.take(at: .seconds(1)) == 0)
    }
}
