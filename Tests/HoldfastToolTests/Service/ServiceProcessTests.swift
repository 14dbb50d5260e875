import Foundation
import Holdfast
import HoldfastGateway
import Logging
import Scratch
import Testing

@testable import HoldfastService
@testable import HoldfastTool

@Suite("A service and the process that is its own")
struct ServiceProcessTests {
    @Test("The error that ends a service says the exit code")
    func status() {
        func status(_ error: any Error) -> ToolStatus { ToolError(ofService: error).status }
        #expect(status(JournalError(.inputOutput, "x")) == .inputOutput)
        #expect(status(JournalError(.ownedByAnotherProcess, "x")) == .cannotOpen)
        #expect(status(CancellationError()) == .internalFault)
        #expect(ServiceRun.Outcome().status == .ok)
    }

    @Test("A line of the log is one line, with a priority for the journal and the time for others")
    func lines() {
        func line(_ level: Logger.Level, _ message: String) -> LogLineText {
            LogLineText(level: level, message: message, label: "holdfast", metadata: [:])
        }
        #expect(line(.error, "two\nlines").text(at: nil) == "<3>two · lines")
        #expect(line(.error, "a\u{1B}[2J").text(at: nil) == "<3>a\u{FFFD}[2J")
        #expect(line(.info, "well").text(at: WallTime(seconds: 0)) == "1970-01-01T00:00:00Z info: well")
        let log = ServiceLog(Console(isInteractive: false, usesColor: false), level: .info, environment: [:])
        let logger = log.logger()
        var quiet = log.logger()
        quiet.logLevel = .critical
        #expect(logger.logLevel == .info && quiet.logLevel == .critical)
        log.leastLevel = .debug
        #expect(logger.logLevel == .debug && quiet.logLevel == .critical)
    }

    @Test("Where nobody started it who wants to know, nobody is told; a watchdog of another process is none")
    func manager() {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        #expect(ServiceManager([:], logger: logger) == nil)
        for (socket, isServed) in [
            ("", false), ("@", false), ("x", false), ("vsock:2:1", false), ("@x", true),
            ("@" + String(repeating: "x", count: 107), true), ("@" + String(repeating: "x", count: 108), false),
            ("/" + String(repeating: "x", count: 106), true), ("/" + String(repeating: "x", count: 107), false),
        ] {
            #expect((ServiceManager(["NOTIFY_SOCKET": socket], logger: logger) != nil) == isServed, "\(socket)")
        }
        let environment = ["NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"]
        #expect(ServiceManager(environment, process: 7, logger: logger)?.watchdogInterval == .milliseconds(1500))
        #expect(ServiceManager(environment, process: 8, logger: logger)?.watchdogInterval == nil)
        #expect(ServiceManager.News.reloading.text(at: 42) == "RELOADING=1\nMONOTONIC_USEC=42")
    }

    @Test("An abstract socket is told as one in the file system is, and one that is gone ends nothing")
    func abstractSocket() async throws {
        let name = "@holdfast-\(UUID().uuidString)"
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let manager = try #require(ServiceManager(["NOTIFY_SOCKET": name], logger: logger))
        do {
            let socket = try NotifySocket(name)
            await manager.tell(.ready("serving"))
            #expect(await waitUntil { socket.heard == ["READY=1\nSTATUS=serving"] })
        }
        await manager.tell(.stopping)
    }
}
