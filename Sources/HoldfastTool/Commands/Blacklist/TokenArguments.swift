internal import ArgumentParser
internal import Holdfast

/// Tokens, and other services' addresses, from the command line, or from standard input, one a line.
struct TokenArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Tokens in hex digits, or addresses of another push service, such as fid:cXy1; - reads them from \
            standard input, one a line.
            """,
            valueName: "token"))
    var tokens: [String] = []

    var readsInput: Bool { tokens == ["-"] }

    func validate() throws {
        guard !readsInput else { return }
        for (index, text) in tokens.enumerated() {
            guard text != "-" else {
                throw ValidationError("- reads all tokens from standard input: leave it out, or the other tokens.")
            }
            do throws(Refusal) {
                _ = try Recipient(argument: text)
            } catch {
                // Not the text itself: it may be a token all the same.
                let place = tokens.count > 1 ? "Token \(index + 1) of \(tokens.count)" : "The token"
                throw ValidationError("\(place) is none: \(error.detail).")
            }
        }
    }

    /// Runs `body` with a thousand tokens at a time.
    ///
    /// - Returns: how many lines of the input were no tokens; each is named on standard error.
    func forEachBatch(_ body: ([Recipient]) async throws -> Void) async throws -> Int {
        var batch: [Recipient] = []
        guard readsInput else {
            for text in tokens { batch.append(try Recipient(argument: text)) }
            for start in stride(from: 0, to: batch.count, by: OperatorDeskLimits.batch) {
                try await body(Array(batch[start...].prefix(OperatorDeskLimits.batch)))
            }
            return 0
        }
        let file = try InputFile("-")
        var reader = LineReader(file)
        var faults = FaultReporter(console: .standard, name: file.name)
        while let line = try await reader.next() {
            switch line {
            case .tooLong(let number): faults.malformed(line: number, LineFault("is too long for a token"))
            case .text(let number, let bytes):
                do throws(Refusal) {
                    batch.append(try Recipient(argument: String(decoding: bytes, as: UTF8.self)))
                } catch {
                    faults.malformed(line: number, LineFault(error))
                }
            }
            if batch.count == OperatorDeskLimits.batch {
                try await body(batch)
                batch = []
            }
        }
        if !batch.isEmpty { try await body(batch) }
        faults.finish()
        return faults.count
    }
}

extension Recipient {
    /// A token as people paste it, or an address of another service by its ``ServiceAddress/notation``.
    init(argument text: String) throws(Refusal) {
        if text.utf8.contains(where: ServiceAddress.isSeparator), !DeviceToken.isHexPairs(text) {
            self = .service(try ServiceAddress(notation: text))
        } else {
            self = .device(try DeviceToken(sanitizing: text))
        }
    }
}

extension DeviceToken {
    /// A token as people paste it. A colon is taken between pairs of hex digits only: before anything else it ends the kind
    /// of an address, which would become another device's token if it were passed over.
    init(argument text: String) throws(Refusal) {
        guard !text.contains(":") || Self.isHexPairs(text) else {
            throw Refusal(
                .badDeviceToken, "a device token has colons between pairs of hex digits only, such as 00:fc:13")
        }
        try self.init(sanitizing: text)
    }

    /// `00:fc:13`, in angle brackets or not.
    static func isHexPairs(_ text: String) -> Bool {
        let groups = text.filter { !$0.isWhitespace && $0 != "<" && $0 != ">" }
            .split(separator: ":", omittingEmptySubsequences: false)
        return groups.count > 1 && groups.allSatisfy { $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }
    }
}
