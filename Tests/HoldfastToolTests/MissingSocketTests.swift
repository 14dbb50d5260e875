import Holdfast
import Testing

@testable import HoldfastTool

@Suite("What is said of a process that uses a journal and serves no control socket") struct MissingSocketTests {
    private static let since = WallTime(seconds: 1_795_966_200)

    private func socket(_ owner: String, after time: Duration) -> MissingSocket {
        MissingSocket(of: owner, journal: "/j", now: Self.since.advanced(by: time))
    }

    @Test("It is starting for some seconds, and then it is not; the next step names the process")
    func service() {
        let owner = "process 3176 (holdfast, since \(Timestamp.format(Self.since)))"
        let young = socket(owner, after: .seconds(3))
        #expect(young.words.contains("it is just starting") && young.next == "ask again in some seconds")
        let old = socket(owner, after: .seconds(180))
        #expect(old.words.hasPrefix("it has had the journal for 3 min and serves no control socket: "), "\(old.words)")
        #expect(!old.words.contains("starting") && old.next.contains("`ps -o args= -p 3176`"), "\(old.next)")
        #expect(old.next.contains("/j/control.sock"))
    }

    @Test("An application is told from Holdfast's own commands, and nothing is guessed of a process without a name")
    func others() {
        let application = socket("process 7 (my app, since \(Timestamp.format(Self.since)))", after: .seconds(60))
        #expect(application.words.contains("for 60 s") && application.words.contains("runs no ControlSocket"))
        #expect(application.next.contains("or stop it"))
        let stopped = "process 7 (holdfast, since \(Timestamp.format(Self.since))), which is stopped (`kill -CONT 7` …)"
        #expect(socket(stopped, after: .seconds(60)).words.contains("for 60 s"))
        for owner in ["process 7", "another process"] {
            let words = socket(owner, after: .seconds(1)).words
            #expect(words.hasPrefix("it serves no control socket: "), "\(words)")
        }
    }
}
