internal import Foundation
internal import Holdfast
internal import HoldfastService

/// The identity of an input file, independent of its name.
struct FileIdentity: Hashable {
    let device: UInt64
    let inode: UInt64

    /// The name of the note in which the journal remembers how far the file was taken.
    var noteName: String { "file/\(device)-\(inode)" }
}

/// How far a file was taken: a note in the journal, written in the same commits as the file's entries.
struct FileProgress: Codable, Equatable {
    static let currentVersion = 2

    /// 1 where no line was taken in part: a Holdfast before that can go on with it.
    var version = 1
    /// Absolute; where the file was when it was last read.
    var path: String
    /// Everything before it was taken.
    var offset: UInt64
    /// How many lines that is.
    var lines: Int
    /// Of the bytes just before `offset`: see ``LineSplitter/fingerprint``.
    var fingerprint: UInt64
    /// Whether the file was taken to its end.
    var finished: Bool
    /// How many notifications of the next line were taken; nil for none.
    var part: Int?
    /// Whose ids the lines before it were given last: see ``LineIDs/run``. Two runs that came to the same place differ in it.
    /// Nil for a run that gave none.
    var run: UInt64?

    init(
        path: String, offset: UInt64, lines: Int, fingerprint: UInt64, finished: Bool, part: Int? = nil
    ) {
        (self.path, self.offset, self.lines, self.fingerprint) = (path, offset, lines, fingerprint)
        (self.finished, self.part) = (finished, part)
        version = part == nil ? 1 : Self.currentVersion
    }

    /// The note's value.
    ///
    /// - Parameter ids: those that lines are given; nil for none.
    func noted(_ ids: LineIDs? = nil) throws(ToolError) -> [UInt8] {
        var progress = self
        progress.run = ids?.run
        do { return try progress.encoded() } catch { throw ToolError(.internalFault, "\(error)") }
    }

    func encoded() throws -> [UInt8] { Array(try JSONOutput.line(self).utf8) }

    /// - Throws: ``ToolError`` when a newer Holdfast wrote it, or when it is damaged.
    static func decode(_ bytes: [UInt8], path: String) throws(ToolError) -> FileProgress {
        struct Version: Decodable { var version: Int }
        do {
            let version = try JSONDecoder().decode(Version.self, from: Data(bytes)).version
            guard version <= currentVersion else {
                throw ToolError(
                    .cannotOpen,
                    "how far \(path) was taken was noted by a newer Holdfast (version \(version) of the note)")
            }
            return try JSONDecoder().decode(FileProgress.self, from: Data(bytes))
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError(.cannotOpen, "the journal's note of how far \(path) was taken cannot be read: \(error)")
        }
    }
}

/// How `send` is to treat a file that may have been begun before.
enum ResumeMode {
    /// Neither flag: a new sending.
    case fresh
    /// `--resume`
    case resume
    /// `--restart`
    case restart
}

/// Where in a file `send` begins.
enum ResumeDecision: Equatable {
    /// At its first line.
    case fromStart
    /// At its first line, although `--resume` was given: nothing of it was taken so far.
    case nothingToResume
    /// Behind what was taken.
    case goOn(FileProgress)
    /// It was taken to its end; there is nothing more in it.
    case alreadyFinished(FileProgress)
    /// For people: why not, and what to do.
    case refuse(String)

    /// A pure function.
    ///
    /// - Parameters:
    ///   - noted: what the journal knows of the file, by its identity.
    ///   - path: absolute.
    ///   - size: bytes.
    ///   - isUnchanged: whether the bytes just before the noted offset are still those that were taken.
    static func decide(_ noted: FileProgress?, path: String, size: UInt64, isUnchanged: Bool, mode: ResumeMode)
        -> ResumeDecision
    {
        guard let noted, mode != .restart else { return mode == .resume ? .nothingToResume : .fromStart }
        let next = Format.count(noted.lines + 1)
        switch mode {
        case .restart:
            return .fromStart
        case .fresh:
            if noted.finished { return .fromStart }
            // The file system gave the number of a deleted file to a new one: not the file that was begun.
            if !isUnchanged, noted.path != path { return .fromStart }
            return .refuse(
                "\(path) was begun and not finished: \(Format.plural(noted.lines, "line")) of it were taken. "
                    + (isUnchanged
                        ? "Use --resume to go on with line \(next), or --restart to send all of it again "
                            + "(then what was taken goes twice)."
                        : "Its content has changed since, so it cannot be resumed. "
                            + "Use --restart to send it from its first line."))
        case .resume:
            guard isUnchanged else {
                if noted.path != path { return .nothingToResume }
                return .refuse(
                    "\(path) cannot be resumed at line \(next): its content before that line has changed since it was taken. "
                        + "Restore it, or use --restart to send it from its first line.")
            }
            if noted.finished, noted.offset == size { return .alreadyFinished(noted) }
            return .goOn(noted)
        }
    }
}
