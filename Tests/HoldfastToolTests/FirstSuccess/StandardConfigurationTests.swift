import Foundation
import Holdfast
import HoldfastService
import Scratch
import Testing

/// The configuration of an installed service, which is read where no other is named.
@Suite("The standard configuration")
struct StandardConfigurationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("standard.yaml", "journal: {path: standard.journal}")
        try folder.write("mine.yaml", "journal: {path: mine.journal}")
    }

    private func journal(_ file: String?, _ environment: [String: String]) throws -> String? {
        let standard = folder("standard.yaml")
        let whole = try HoldfastConfiguration.load(file: file, orElse: standard, environment: environment).journal.path
        #expect(
            try HoldfastConfiguration.loadJournal(file: file, orElse: standard, environment: environment).path == whole)
        return whole
    }

    @Test("It holds where neither a flag nor the environment names another, and is not needed")
    func order() throws {
        #expect(try journal(nil, [:]) == folder("standard.journal"))
        #expect(try journal(folder("mine.yaml"), [:]) == folder("mine.journal"))
        #expect(try journal(nil, ["HOLDFAST_CONFIG": folder("mine.yaml")]) == folder("mine.journal"))
        #expect(try journal(nil, ["HOLDFAST_CONFIG": ""]) == nil)
        #expect(try journal(nil, ["HOLDFAST_JOURNAL_PATH": "/elsewhere"]) == "/elsewhere")
        try FileManager.default.removeItem(atPath: folder("standard.yaml"))
        #expect(try journal(nil, [:]) == nil)
    }

    @Test("One with a mistake is named, and so is one that this user may not read")
    func mistakes() throws {
        try folder.write("standard.yaml", "journal: {pth: x}")
        let error = #expect(throws: ConfigError.self) { try journal(nil, [:]) }
        #expect(error?.description.contains(folder("standard.yaml")) == true)
    }

    @Test("serve without any configuration says how to make one")
    func serve() async throws {
        // An empty variable stands for none at all, also on a machine with an installed service.
        let result = try await Tool.run("serve")
        #expect(result.status == 64 && result.errors.contains("`holdfast init` makes one"), "\(result.errors)")
        #expect(result.errors.contains("/etc/holdfast/holdfast.yaml"))
    }
}
