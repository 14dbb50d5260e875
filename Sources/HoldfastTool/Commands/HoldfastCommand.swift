internal import ArgumentParser
internal import Foundation

@main
enum Main {
    static func main() async {
        atexit {
            // Help is printed without a Console.
            guard fflush(nil) != 0, errno != EPIPE else { return }
            let reason = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO).localizedDescription
            Console.standard.error("standard output could not be written: \(reason)")
            _exit(ToolStatus.inputOutput.rawValue)
        }
        await run()
    }

    /// As ArgumentParser's own `main()`, but that it knows which command may have been meant.
    private static func run() async {
        let arguments = ProgramArguments.all
        if let error = ArgumentEncoding.error(arguments) { HoldfastCommand.exit(withError: error) }
        var command: any ParsableCommand
        do {
            command = try await HoldfastCommand.asyncParseAsRoot(arguments)
        } catch {
            let hint = CommandHint(arguments, below: HoldfastCommand.self)?.error ?? DashedWordHint(arguments)?.error
            HoldfastCommand.exit(withError: hint ?? error)
        }
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            // Of the command that prints help, which nobody may have asked for.
            let hint = HoldfastCommand.exitCode(for: error) == .success ? DashedWordHint(arguments)?.error : nil
            HoldfastCommand.exit(withError: hint ?? error)
        }
    }
}

struct HoldfastCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast",
        abstract: "Push notifications that survive crashes.",
        discussion: """
            Writes each notification to a journal on disk before it sends it, and keeps it there until the push \
            service has answered. So a notification survives crashes, restarts, lost connections and refused \
            credentials.

            Exit codes of every command; if several apply, the first of this list:
              64  wrong flags or arguments
              66  the input, the journal or the entry does not exist
              70  a fault of Holdfast itself
              72  the journal is damaged, or of a newer format
              73  the journal can't be opened, or a file that is to be made exists
              74  the journal can't be read or written: a full disk, an I/O error
              77  permission denied
              78  configuration: certificates, keys, credentials, topics
              69  an address can't be listened on, or a service can't be reached
              68  the owner of a journal of the fleet did not answer; what the others said is told
              75  notifications are left in the journal: try again later
              65  some of the input was malformed or refused, and not taken
               3  nothing runs (of `status`)
               1  done, but not everything was confirmed, or something was found
               0  done

            Docs/Reference/Tool.md describes every command, its JSON and its exit codes.
            """,
        version: ProgramVersion.text,
        subcommands: [
            DemoCommand.self, InitCommand.self, SendCommand.self, RecoverCommand.self, ServeCommand.self,
            StatusCommand.self, DoctorCommand.self, TopCommand.self, GatewayCommand.self, FeedbackCommand.self,
            ChannelsCommand.self, JournalCommand.self, OutcomesCommand.self, LanesCommand.self, RoutesCommand.self,
            TagsCommand.self,
            RejectionsCommand.self, BlacklistCommand.self, ConfigCommand.self, PostgresCommand.self,
            MockCommand.self,
        ])
}
