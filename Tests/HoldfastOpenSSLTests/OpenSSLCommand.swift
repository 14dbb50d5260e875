import Foundation
import Testing

/// The `openssl` command line: a judge that we did not write.
struct OpenSSLCommand {
    struct Output {
        let status: Int32
        let text: String
        /// What is in the file `out`, where there is one.
        let file: [UInt8]?
    }

    /// What it wrote to the file `out`; fails the test when it did not succeed.
    static func outputFile(_ arguments: [String], files: [String: [UInt8]] = [:]) throws -> [UInt8] {
        let output = try run(arguments, files: files)
        try #require(output.status == 0, "openssl \(arguments.joined(separator: " ")): \(output.text)")
        return try #require(output.file)
    }

    /// Runs in a directory of its own with these files in it, and hands back what it printed to both outputs.
    static func run(_ arguments: [String], files: [String: [UInt8]] = [:]) throws -> Output {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (name, bytes) in files { try Data(bytes).write(to: directory.appendingPathComponent(name)) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = directory
        // Into a file: reading a pipe can be interrupted by a signal, which Foundation does not expect.
        let file = directory.appendingPathComponent("printed-\(UUID().uuidString)")
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let printed = try Data(contentsOf: file)
        let written = try? Data(contentsOf: directory.appendingPathComponent("out"))
        return Output(
            status: process.terminationStatus, text: String(decoding: printed, as: UTF8.self),
            file: written.map { Array($0) })
    }

    /// What it printed; fails the test when it did not succeed.
    static func output(_ arguments: [String], files: [String: [UInt8]] = [:]) throws -> [UInt8] {
        let output = try run(arguments, files: files)
        try #require(output.status == 0, "openssl \(arguments.joined(separator: " ")): \(output.text)")
        return Array(output.text.utf8)
    }
}

/// r‖s as the DER sequence of two integers, written here so that our own conversion is not its own judge.
func derSignature(_ jose: [UInt8]) -> [UInt8] {
    func integer(_ half: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(half.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
    let both = integer(jose[..<32]) + integer(jose[32...])
    return [0x30, UInt8(both.count)] + both
}

func bytes(hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// The PEM of the P-256 public key with these coordinates.
func publicKeyPEM(x: [UInt8], y: [UInt8]) -> [UInt8] {
    let prefix = bytes(hex: "3059301306072a8648ce3d020106082a8648ce3d030107034200")
    let encoded = Data(prefix + [4] + x + y).base64EncodedString(options: .lineLength64Characters)
    return Array("-----BEGIN PUBLIC KEY-----\n\(encoded)\n-----END PUBLIC KEY-----\n".utf8)
}
