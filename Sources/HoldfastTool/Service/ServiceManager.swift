internal import Foundation
internal import HoldfastService
internal import HoldfastTransport
internal import Logging
internal import NIOCore
internal import NIOPosix

/// The service manager that started this process, such as systemd, and is told its state: sd_notify(3), without its library.
struct ServiceManager: Sendable {
    /// The messages.
    enum News {
        case ready(String)
        case reloading
        case status(String)
        case stopping
        case watchdog

        /// - Parameter now: of the monotonic clock, in microseconds.
        func text(at now: UInt64) -> String {
            switch self {
            case .ready(let status): "READY=1\nSTATUS=\(status)"
            // With Type=notify-reload, systemd tells by the time which order this is the answer to.
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(now)"
            case .status(let status): "STATUS=\(status)"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            }
        }
    }

    private let address: NotifyAddress
    /// How often to say ``News/watchdog``; nil for never.
    let watchdogInterval: Duration?
    private let logger: Logger

    /// `nil` if no service manager asks for messages.
    ///
    /// - Parameter environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are looked at.
    init?(_ environment: [String: String], process: Int32 = ProcessInfo.processInfo.processIdentifier, logger: Logger) {
        guard let socket = environment["NOTIFY_SOCKET"], !socket.isEmpty else { return nil }
        guard let address = NotifyAddress(socket) else {
            logger.warning(
                """
                NOTIFY_SOCKET is \(socket.prefix(200).debugDescription), which is neither a path nor an abstract name \
                behind an @, of at most 108 bytes: nothing is told there
                """)
            return nil
        }
        self.address = address
        self.logger = logger
        let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        // Twice in the time, as sd_watchdog_enabled(3) advises.
        watchdogInterval =
            isForUs ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds(max($0 / 2, 1)) } : nil
    }

    /// Says that the service is alive, until the task is cancelled; nothing where nobody asks for that.
    func feedWatchdog() async {
        guard let watchdogInterval else { return }
        while !Task.isCancelled {
            await tell(.watchdog)
            do { try await Task.sleep(for: watchdogInterval) } catch { return }
        }
    }

    /// Says it, and waits until it was taken. That it can't be said is logged, and ends nothing.
    func tell(_ news: News) async {
        let text = news.text(at: NIODeadline.now().uptimeNanoseconds / 1000)
        do {
            try await NIOThreadPool.singleton.runIfActive { [address] in try address.send(text) }
        } catch {
            logger.warning(
                "the service manager can't be told \(text.prefix { $0 != "\n" }): \(FileFailure.text(error))")
        }
    }
}

extension ServiceManager.News {
    init(_ news: ServiceNews) {
        self =
            switch news {
            case .ready(let status): .ready(status)
            case .reloading: .reloading
            case .status(let status): .status(status)
            case .stopping: .stopping
            }
    }
}
