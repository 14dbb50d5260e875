internal import Foundation
internal import HoldfastTransport

/// A configuration file, read and understood as YAML.
struct ConfigFile {
    /// As it was named.
    let name: String
    /// What relative paths in it are relative to.
    let directory: String
    /// Nil for a file with nothing but comments.
    let tree: YAMLTree?

    init(name: String, directory: String, tree: YAMLTree?) {
        self.name = name
        self.directory = directory
        self.tree = tree
    }

    /// - Throws: ``ConfigError`` when it can't be read, or is no YAML.
    init(_ name: String) throws(ConfigError) {
        self.name = name
        let url = URL(fileURLWithPath: name).standardizedFileURL
        directory = url.deletingLastPathComponent().path
        do throws(YAMLFault) {
            tree = try YAMLReader.read(try Self.bytes(of: url))
        } catch {
            throw ConfigError([ConfigProblem(source: .file(name, error.place), path: "", message: error.message)])
        }
    }

    /// One byte more than is taken tells that there are too many; a device never ends.
    private static func bytes(of url: URL) throws(YAMLFault) -> [UInt8] {
        do {
            let handle = try FileHandle(forReadingFrom: url)
            defer { do { try handle.close() } catch {} }
            var bytes: [UInt8] = []
            while bytes.count <= YAMLReader.greatestByteCount,
                let more = try handle.read(upToCount: YAMLReader.greatestByteCount + 1 - bytes.count), !more.isEmpty
            {
                bytes += more
            }
            return bytes
        } catch let error as CocoaError {
            switch error.code {
            case .fileReadNoSuchFile, .fileNoSuchFile: throw YAMLFault("there is no such file")
            case .fileReadNoPermission: throw YAMLFault("may not be read by this user")
            default: throw YAMLFault("can't be read: \(FileFailure.words(error))")
            }
        } catch {
            throw YAMLFault("can't be read: \(FileFailure.words(error))")
        }
    }
}

/// All that is wrong with a configuration.
struct ConfigError: Error {
    /// Told in full, beyond which the rest is counted.
    static let greatestCount = 100

    let problems: [ConfigProblem]

    init(_ problems: [ConfigProblem]) { self.problems = problems }

    /// One problem a line.
    var lines: [String] {
        let lines = problems.prefix(Self.greatestCount).map(\.description)
        let rest = problems.count - lines.count
        return rest > 0 ? lines + ["and \(Format.count(rest)) more like these"] : lines
    }

    var toolError: ToolError {
        ToolError(
            .configuration, "the configuration has \(Format.plural(problems.count, "mistake")):", mistakes: lines)
    }
}
