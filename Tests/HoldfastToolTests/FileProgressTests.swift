import Testing

@testable import HoldfastTool

@Suite("Going on with a file")
struct FileProgressTests {
    private let half = FileProgress(path: "/a/f", offset: 500, lines: 10, fingerprint: 7, finished: false)
    private let whole = FileProgress(path: "/a/f", offset: 1000, lines: 20, fingerprint: 7, finished: true)

    @Test("A note is read again as it was written")
    func roundTrips() throws {
        let progress = FileProgress(
            path: "/tmp/a \"b\"/ü.ndjson", offset: .max, lines: .max, fingerprint: .max, finished: true)
        #expect(try FileProgress.decode(progress.encoded(), path: "f") == progress)
        #expect(
            String(decoding: try half.encoded(), as: UTF8.self)
                == #"{"fingerprint":7,"finished":false,"lines":10,"offset":500,"path":"/a/f","version":1}"#)
    }

    @Test("A note of a newer Holdfast, or a damaged one, is not guessed at")
    func refusesOthers() throws {
        var newer = half
        newer.version = 3
        let error = #expect(throws: ToolError.self) { try FileProgress.decode(newer.encoded(), path: "/a/f") }
        #expect(error?.status == .cannotOpen)
        #expect(error?.message.contains("newer Holdfast") == true)
        #expect(throws: ToolError.self) { try FileProgress.decode([0x7B], path: "/a/f") }
        #expect(throws: ToolError.self) { try FileProgress.decode([], path: "/a/f") }
    }

    @Test("A file that nobody knows starts at its first line")
    func unknownFile() {
        #expect(decide(nil, .fresh) == .fromStart)
        #expect(decide(nil, .restart) == .fromStart)
        #expect(decide(nil, .resume) == .nothingToResume)
    }

    @Test("A file that was begun is refused without a flag, goes on with --resume, and starts anew with --restart")
    func begunFile() throws {
        guard case .refuse(let message) = decide(half, .fresh) else { throw Unexpected() }
        #expect(message.contains("10 lines of it were taken") && message.contains("--resume to go on with line 11"))
        #expect(decide(half, .resume) == .goOn(half))
        #expect(decide(half, .restart) == .fromStart)
    }

    @Test("A finished file is a new sending without a flag; --resume finds nothing more in it")
    func finishedFile() {
        #expect(decide(whole, .fresh) == .fromStart)
        #expect(decide(whole, .resume) == .alreadyFinished(whole))
        #expect(decide(whole, .restart) == .fromStart)
    }

    @Test("A finished file that has grown goes on behind what was taken")
    func grownFile() {
        #expect(
            ResumeDecision.decide(whole, path: "/a/f", size: 1200, isUnchanged: true, mode: .resume) == .goOn(whole))
    }

    @Test("A file whose content changed before the place is not resumed")
    func changedFile() throws {
        guard case .refuse(let message) = decide(half, .resume, isUnchanged: false) else { throw Unexpected() }
        #expect(message.contains("changed"))
        guard case .refuse(let other) = decide(half, .fresh, isUnchanged: false) else { throw Unexpected() }
        #expect(other.contains("--restart"))
        #expect(decide(half, .restart, isUnchanged: false) == .fromStart)
    }

    @Test("Another file that got the number of a deleted one is not taken for it")
    func reusedInode() {
        #expect(decide(half, .fresh, isUnchanged: false, path: "/b/g") == .fromStart)
        #expect(decide(half, .resume, isUnchanged: false, path: "/b/g") == .nothingToResume)
    }

    @Test("A file that was moved is still the file that was begun")
    func movedFile() {
        #expect(decide(half, .resume, path: "/b/g") == .goOn(half))
    }

    private func decide(
        _ noted: FileProgress?, _ mode: ResumeMode, isUnchanged: Bool = true, path: String = "/a/f"
    ) -> ResumeDecision {
        ResumeDecision.decide(noted, path: path, size: 1000, isUnchanged: isUnchanged, mode: mode)
    }

    private struct Unexpected: Error {}
}
