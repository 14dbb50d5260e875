internal import ArgumentParser
internal import Foundation

@main
enum Main {
    static func main() async {
        atexit {
            // What is printed without a Console: help.
            guard fflush(nil) != 0, errno != EPIPE else { return }
            let reason = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO).localizedDescription
            Console.standard.error("standard output could not be written: \(reason)")
            _exit(ToolStatus.inputOutput.rawValue)
        }
        await HoldfastCommand.main()
    }
}

struct HoldfastCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast",
        abstract: "Push notifications that survive.",
        discussion: """
            Journals notifications before it sends them, and keeps each until the push service has answered for it: \
            through crashes, restarts, dead connections and bad credentials.

            Exit codes: 0 everything was confirmed · 1 nothing is left, but some were rejected, expired or are unknown · \
            64 wrong flags · 65 some of the input was not taken · 66 no input · 69 cannot listen, or be reached · 70 internal fault · \
            73 the journal cannot be opened · 74 the journal or the disk fails · 75 notifications are left in the \
            journal · 77 permission denied · 78 configuration (certificates, keys, credentials).
            """,
        version: "0.1.0",
        subcommands: [
            SendCommand.self, RecoverCommand.self, ServeCommand.self, GatewayCommand.self, FeedbackCommand.self,
            ChannelsCommand.self, JournalCommand.self, LanesCommand.self,
            RejectionsCommand.self, BlacklistCommand.self, ConfigCommand.self, MockCommand.self,
        ])
}
