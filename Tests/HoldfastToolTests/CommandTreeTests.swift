import Foundation
import Scratch
import Testing

@testable import HoldfastTool

@Suite("Every command")
struct CommandTreeTests {
    /// What `--experimental-dump-help` says of a command.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable { var name: String }
            var names: [Name]?
            var abstract: String?
            var shouldDisplay: Bool
        }

        var commandName: String
        var abstract: String?
        var discussion: String?
        var arguments: [Argument]?
        var subcommands: [Command]?

        func has(_ name: String) -> Bool {
            arguments?.contains { $0.names?.contains { $0.name == name } ?? false } ?? false
        }

        /// The commands that do something, with their full names.
        func leaves(_ path: String = "") -> [(name: String, command: Command)] {
            let name = path.isEmpty ? commandName : "\(path) \(commandName)"
            let below = subcommands?.filter { $0.commandName != "help" } ?? []
            return below.isEmpty ? [(name, self)] : below.flatMap { $0.leaves(name) }
        }
    }

    private struct Dump: Decodable { var command: Command }

    /// - Parameter program: ours that users have, or the one that measures.
    private func tree(of program: String = Tool.path) async throws -> Command {
        let output = try await RunningTool(["--experimental-dump-help"], program: program).result().output
        return try JSONDecoder().decode(Dump.self, from: Data(output.utf8)).command
    }

    /// Those whose output is not theirs to form, or no output at all.
    private let withoutJSON = [
        // NDJSON by nature.
        "holdfast journal export", "holdfast blacklist export", "holdfast journal quarantine export",
    ]

    @Test("Benches are a program of their own, and none of the tool's commands")
    func benches() async throws {
        let names = try await tree(of: "\(Tool.path)-bench").leaves().map(\.name)
        #expect(
            names
                == ["delivery", "backlog", "ids", "codec", "gateway", "routes", "bulk", "outcomes", "postgres"].map {
                    "holdfast-bench \($0)"
                })
        #expect(try await tree().subcommands?.contains { $0.commandName == "bench" } == false)
    }

    @Test("Every command says what it does, shows an example, and prints JSON where it prints anything")
    func selfExplaining() async throws {
        let leaves = try await tree().leaves() + tree(of: "\(Tool.path)-bench").leaves()
        #expect(leaves.count > 20)
        for (name, command) in leaves {
            #expect(command.abstract?.hasSuffix(".") == true, "\(name) has no abstract")
            #expect(command.discussion?.contains("\(name)") == true, "\(name) shows no example")
            #expect(command.has("json") != withoutJSON.contains(name), "\(name): --json")
            for argument in command.arguments ?? [] where argument.shouldDisplay {
                #expect(
                    argument.abstract?.isEmpty == false,
                    "\(name): \(argument.names?.first?.name ?? "an argument") has no help")
            }
        }
    }

    @Test("Whoever changes something that cannot be undone is asked, or says --yes")
    func consent() async throws {
        let leaves = try await tree().leaves()
        for name in [
            "holdfast journal drop", "holdfast rejections discard", "holdfast blacklist remove",
            "holdfast channels delete",
        ] {
            #expect(leaves.first { $0.name == name }?.command.has("yes") == true, "\(name)")
        }
    }

    @Test("Whoever reads or changes a journal takes it from --journal or the environment")
    func journals() async throws {
        for (name, command) in try await tree().leaves()
        where ["journal", "lanes", "tags", "rejections", "blacklist", "send", "recover"].contains(
            name.split(separator: " ")[1])
            // It is about a key file, whichever journals that is for.
            && !name.hasPrefix("holdfast journal key ")
        {
            #expect(command.has("journal"), "\(name)")
        }
    }

    @Test(
        "Wrong flags are 64, a journal that is not there is 66, whatever the command",
        arguments: [
            ["journal", "status"], ["journal", "list"], ["journal", "show", "1"], ["journal", "export"],
            ["lanes", "list"],
            ["lanes", "pause", "default"], ["lanes", "resume", "default"], ["tags", "list"], ["tags", "pause", "t"],
            ["tags", "resume", "t"], ["rejections", "list"],
            ["rejections", "show", "1"],
            ["rejections", "retry", "1"], ["rejections", "discard", "1", "--yes"], ["journal", "drop", "1", "--yes"],
            ["blacklist", "list"], ["blacklist", "export"], ["blacklist", "check", "00fc"],
            ["blacklist", "remove", "00fc", "--yes"],
        ])
    func exitCodes(arguments: [String]) async throws {
        let folder = try TemporaryFolder()
        let missing = try await Tool.start(arguments + ["--journal", folder("none")]).result()
        #expect(missing.status == 66, "\(missing.output)\(missing.errors)")
        #expect(missing.errors.contains(folder("none")))
        #expect(try await Tool.start(arguments + ["--no-such-flag"]).result().status == 64)
        #expect(try await Tool.start(arguments).result().status == 64)
    }

    @Test("Routes are completed from the configuration, also one with mistakes; one that is not there is no trouble")
    func routeNames() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "holdfast.yaml",
            """
            journal: {path: push.journal}
            routes:
              - {name: alpha, endpoint: "http://127.0.0.1:1", topics: [a]}
              - {name: beta, endpoint: "http://127.0.0.1:2", topics: [b], connections: many}
            """)
        let arguments = ["holdfast", "routes", "connect", "--config", folder("holdfast.yaml"), ""]
        #expect(RouteCompletion.names(arguments, environment: [:]) == ["alpha", "beta"])
        #expect(RouteCompletion.names(["holdfast", "--config", folder("none.yaml")], environment: [:]) == [])
    }

    @Test(
        "Completions are what their shells can read",
        arguments: [
            ("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"]),
        ])
    func completions(shell: String, check: [String]) async throws {
        let script = try await Tool.run("--generate-completion-script", shell)
        #expect(script.status == 0)
        #expect(script.output.contains("journal") && script.output.contains("rejections"))
        let folder = try TemporaryFolder()
        try folder.write("script", script.output)
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let paths = folders.map { "\($0)/\(shell)" }
        // On a machine without the shell nothing more can be said.
        guard let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) else { return }
        let result = try await RunningTool(check + [folder("script")], program: path).result()
        #expect(result.status == 0, "\(shell): \(result.errors)")
    }
}
