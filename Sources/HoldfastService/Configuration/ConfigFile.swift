internal import Foundation
internal import HoldfastTransport

/// A configuration file, read and understood as YAML.
package struct ConfigFile {
    /// The path as it was given.
    package let name: String
    /// The directory to which relative paths in it belong.
    package let directory: String
    /// `nil` for a file with nothing but comments.
    package let tree: YAMLTree?

    package init(name: String, directory: String, tree: YAMLTree?) {
        self.name = name
        self.directory = directory
        self.tree = tree
    }

    /// A text that is no file.
    ///
    /// - Throws: ``ConfigError`` when it is no YAML.
    init(text: String, name: String, directory: String) throws(ConfigError) {
        (self.name, self.directory) = (name, directory)
        tree = try Self.tree(named: name) { () throws(YAMLFault) in Array(text.utf8) }
    }

    /// - Throws: ``ConfigError`` when it can't be read, or is no YAML.
    package init(_ name: String) throws(ConfigError) {
        self.name = name
        let url = URL(fileURLWithPath: name).standardizedFileURL
        directory = url.deletingLastPathComponent().path
        tree = try Self.tree(named: name) { () throws(YAMLFault) in try Self.bytes(of: url) }
    }

    private static func tree(
        named name: String, _ bytes: () throws(YAMLFault) -> [UInt8]
    ) throws(ConfigError) -> YAMLTree? {
        do throws(YAMLFault) {
            return try YAMLReader.read(try bytes())
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
