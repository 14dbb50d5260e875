import Foundation
import Holdfast
import Scratch
import Testing

@Suite("holdfast top", .serialized, .enabled(if: Tmux.isWanted))
struct TopCommandTests {
    /// A service with traffic behind it.
    private static func world() async throws -> ServiceWorld {
        let refused = String(repeating: "0", count: 56) + String(0x1000_0000, radix: 16)
        let world = try await ServiceWorld(mockFlags: ["--reject", "\(refused)=Unregistered"])
        try await world.serve()
        let sent = try await world.send(400, journal: "sender").result()
        #expect(sent.status == 0, "\(sent.errors)")
        return world
    }

    private static func command(_ world: ServiceWorld) -> String {
        "\(Tool.path) top --journal \(world.folder("push.journal")) --interval 200ms"
    }

    private static func check(_ terminal: Tmux) {
        let lines = terminal.screen.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= terminal.size.columns }, "\(terminal.screen)")
    }

    @Test(
        "It shows the service at any size, pauses and resumes the selected lane, finds, and leaves the terminal as it was"
    )
    func steers() async throws {
        let world = try await Self.world()
        let wide = try Tmux(columns: 120, rows: 40, Self.command(world))
        let usual = try Tmux(columns: 80, rows: 24, Self.command(world))
        let narrow = try Tmux(columns: 60, rows: 20, locale: "C", Self.command(world))
        for terminal in [usual, wide, narrow] {
            #expect(terminal.wait(for: "p pause"), "\(terminal.screen)")
            for words in [
                "holdfast top", "accepted", "confirmed", "waiting 0", "ROUTE", "connected", "LANE", "running",
            ] {
                #expect(terminal.wait(for: words), "\(words) in\n\(terminal.screen)")
            }
            Self.check(terminal)
            Self.keep(terminal)
        }
        #expect(usual.screen.contains("▶ example/immediate/at-least-once"), "\(usual.screen)")
        #expect(usual.screen.contains("Unregistered"), "\(usual.screen)")
        #expect(narrow.screen.unicodeScalars.allSatisfy { $0.isASCII }, "\(narrow.screen)")

        usual.keys("p")
        #expect(usual.wait(for: "pause example/immediate/at-least-once? y/n"), "\(usual.screen)")
        usual.keys("y")
        for terminal in [usual, wide, narrow] {
            #expect(terminal.wait(for: "paused"), "\(terminal.screen)")
            Self.check(terminal)
        }
        Self.keep(usual, "paused")
        let lanes = try await Tool.run("lanes", "list", "--json", "--journal", world.folder("push.journal"))
        #expect(lanes.output.contains(#""state":"paused""#), "\(lanes.output)")
        usual.keys("r", "y")
        #expect(usual.wait(for: "resumed"), "\(usual.screen)")

        usual.keys("/", String(repeating: "0", count: 56) + "10000001", "Enter")
        #expect(usual.wait(for: "confirmed"), "\(usual.screen)")
        #expect(usual.wait(for: "entry "), "\(usual.screen)")
        Self.check(usual)
        Self.keep(usual, "found")
        usual.keys("x", "?")
        #expect(usual.wait(for: "draw the screen anew"), "\(usual.screen)")
        Self.keep(usual, "help")
        usual.keys("x")
        try usual.resize(columns: 50, rows: 15)
        #expect(usual.wait(for: "p pause"), "\(usual.screen)")
        #expect(usual.screen.split(separator: "\n").allSatisfy { $0.count <= 50 }, "\(usual.screen)")
        Self.keep(usual, "small")

        usual.keys("q")
        wide.keys("C-c")
        for terminal in [usual, wide] {
            #expect(terminal.wait(for: "ended 0"), "\(terminal.screen)")
            #expect(await waitUntil { (try? terminal.isSane()) == true })
            #expect(try terminal.hasCursor())
        }
        // The service ends: that is said, and the next signal is heard.
        _ = try await world.stop()
        #expect(narrow.wait(for: "no answer"), "\(narrow.screen)")
        Self.keep(narrow, "gone")
        narrow.keys("q")
        #expect(narrow.wait(for: "ended 0"), "\(narrow.screen)")
        #expect(await waitUntil { (try? narrow.isSane()) == true })
    }

    @Test("The terminal is given back on Ctrl-Z and taken again by fg, and given back on SIGTERM")
    func signals() async throws {
        let world = try await Self.world()
        let pid = world.folder("pid")
        let terminal = try Tmux(columns: 80, rows: 24, "sh -c 'echo $$ >\(pid); exec \(Self.command(world))'")
        #expect(terminal.wait(for: "p pause"), "\(terminal.screen)")
        terminal.keys("C-z")
        #expect(terminal.wait(for: "shell>"), "\(terminal.screen)")
        #expect(try terminal.hasCursor())
        terminal.keys("fg", "Enter")
        #expect(terminal.wait(for: "p pause"), "\(terminal.screen)")
        let process = try #require(Int32(try world.folder.read("pid").trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(process, SIGTERM) == 0)
        #expect(terminal.wait(for: "shell>"), "\(terminal.screen)")
        #expect(try terminal.hasCursor())
    }

    @Test("Without a terminal it prints one snapshot, and says when nobody can be asked")
    func snapshot() async throws {
        let world = try await Self.world()
        let journal = world.folder("push.journal")
        let once = try await Tool.run("top", "--journal", journal, "--interval", "100ms")
        #expect(once.status == 0, "\(once.errors)")
        #expect(once.output.contains("holdfast top") && !once.output.contains("\u{1B}"), "\(once.output)")
        let json = try await Tool.run("top", "--journal", journal, "--interval", "100ms", "--once", "--json")
        let object = try json.json()
        let status = try #require(object["status"] as? [String: Any])
        #expect((status["figures"] as? [String: Any])?["submitted"] as? Int == 400, "\(json.output)")
        #expect(
            (object["reasons"] as? [[String: Any]])?.first?["reason"] as? String == "Unregistered", "\(json.output)")
        _ = try await world.stop()
        let none = try await Tool.run("top", "--journal", journal)
        #expect(none.status == 69 && none.errors.contains("journal status"), "\(none.errors)")
    }

    /// Screens are kept to be looked at where `HOLDFAST_SCREENS` names a directory.
    private static func keep(_ terminal: Tmux, _ name: String = "overview") {
        guard let folder = ProcessInfo.processInfo.environment["HOLDFAST_SCREENS"] else { return }
        let path = "\(folder)/\(name)-\(terminal.size.columns)x\(terminal.size.rows).txt"
        _ = FileManager.default.createFile(atPath: path, contents: Data(terminal.screen.utf8))
    }
}
