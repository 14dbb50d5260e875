import Foundation
import Holdfast
import Testing

@testable import HoldfastAPNs
@testable import HoldfastTransport

/// The machines that decide when files are read, and when operators are told.
@Suite("Watching credentials") struct CredentialsWatchTests {
    /// Stamps of files that differ.
    private static let stamps: [[FileStamp]] = [1, 2, 3].map { size in
        let path = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString)"
        _ = FileManager.default.createFile(atPath: path, contents: Data(repeating: 0x78, count: size))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return [FileStamp(path)]
    }

    private var good: [FileStamp] { Self.stamps[0] }
    private var bad: [FileStamp] { Self.stamps[1] }
    private var worse: [FileStamp] { Self.stamps[2] }

    @Test("Files that have not changed are not read") func unchanged() {
        let watch = CredentialWatch(used: good)
        #expect(!watch.wantsLoad(good))
        #expect(watch.wantsLoad(bad))
    }

    @Test("A file that is half written when it is first seen is no reason to tell anybody") func halfWritten() {
        var watch = CredentialWatch(used: good)
        #expect(watch.failed(bad, isAsked: false) == false)
        #expect(watch.failed(worse, isAsked: false) == false)
        #expect(watch.wantsLoad(worse))
        #expect(watch.loaded(worse) == false)
        #expect(!watch.wantsLoad(worse))
    }

    @Test("A broken file is told once, tried again at each look, and its mending is known") func broken() {
        var watch = CredentialWatch(used: good)
        #expect(watch.failed(bad, isAsked: false) == false)
        #expect(watch.failed(bad, isAsked: false) == true)
        for _ in 0..<5 {
            #expect(watch.wantsLoad(bad))
            #expect(watch.failed(bad, isAsked: false) == false)
        }
        #expect(watch.loaded(good) == true)
        #expect(!watch.wantsLoad(good))
    }

    @Test("Another broken file is told again, and so is one on request") func again() {
        var watch = CredentialWatch(used: good)
        _ = watch.failed(bad, isAsked: false)
        #expect(watch.failed(bad, isAsked: false) == true)
        #expect(watch.failed(worse, isAsked: false) == false)
        #expect(watch.failed(worse, isAsked: false) == true)
        var asked = CredentialWatch(used: good)
        #expect(asked.failed(bad, isAsked: true) == true)
        #expect(asked.failed(bad, isAsked: false) == false)
    }

    @Test("A file is seen to change when it is written, replaced, linked anew, closed to us, or removed") func stamps()
        throws
    {
        let directory = NSTemporaryDirectory() + "holdfast-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (path, link) = ("\(directory)/key", "\(directory)/link")
        func write(_ text: String, to path: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        var seen: [FileStamp] = [FileStamp(path)]
        try write("one", to: path)
        seen.append(FileStamp(path))
        #expect(FileStamp(path) == seen.last)
        try write("three", to: path)
        seen.append(FileStamp(path))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        seen.append(FileStamp(path))
        // A file of the same size in its place.
        try write("seven", to: "\(directory)/other")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: "\(directory)/other", toPath: path)
        seen.append(FileStamp(path))
        #expect(Set(seen).count == seen.count)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(FileStamp(link) == FileStamp(path))
        try write("eight", to: "\(directory)/next")
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(directory)/next")
        #expect(FileStamp(link) != FileStamp(path))
    }

    // MARK: The end of a certificate

    @Test("The end is told thirty, seven and one days before, and at it, each once") func expiry() {
        var notices = ExpiryNotices()
        let end: Int64 = 2_000_000_000
        func look(_ days: Double) -> ExpiryNotices.Stage? {
            notices.look(notAfter: end, now: WallTime(seconds: end - Int64(days * 86_400)))
        }
        #expect(look(300) == nil)
        #expect(look(30.01) == nil)
        #expect(look(30) == .month)
        #expect(look(29) == nil)
        #expect(look(7) == .week)
        #expect(look(6.5) == nil)
        #expect(look(1) == .day)
        #expect(look(0.001) == nil)
        #expect(notices.look(notAfter: end, now: WallTime(seconds: end)) == nil)
        #expect(notices.look(notAfter: end, now: WallTime(seconds: end + 1)) == .over)
        #expect(look(-1) == nil)
    }

    @Test("Whoever looks late is told what is true by then, and a new certificate begins anew") func lateExpiry() {
        var notices = ExpiryNotices()
        #expect(notices.look(notAfter: nil, now: WallTime(seconds: 1)) == nil)
        let day: Int64 = 86_400
        #expect(notices.look(notAfter: 100 * day, now: WallTime(seconds: 95 * day)) == .week)
        #expect(notices.look(notAfter: 500 * day, now: WallTime(seconds: 95 * day)) == nil)
        #expect(notices.look(notAfter: 500 * day, now: WallTime(seconds: 501 * day)) == .over)
    }
}
