private import CHoldfastOpenSSL

/// AES-256-GCM under one key, either to seal or to open.
///
/// Not for two threads at a time: it owns one `EVP_CIPHER_CTX`, in which the key stays scheduled from message to message.
@safe package final class AES256GCM {
    package static let keyByteCount = 32
    /// Bytes of the tag behind what is sealed.
    package static let tagByteCount = 16
    package static let nonceByteCount = 12

    private let context: OpaquePointer
    private let seals: CInt

    /// - Parameters:
    ///   - key: ``keyByteCount`` bytes.
    ///   - seals: whether it seals; otherwise it opens.
    package init(key: Span<UInt8>, seals: Bool) throws(OpenSSLError) {
        guard key.count == Self.keyByteCount else {
            throw OpenSSLError("a key of AES-256 has 32 bytes, not \(key.count)")
        }
        ERR_clear_error()
        self.seals = seals ? 1 : 0
        unsafe context = try check(EVP_CIPHER_CTX_new(), "cannot make a cipher")
        let result = unsafe key.withUnsafeBufferPointer { key in
            unsafe EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key.baseAddress, nil, self.seals)
        }
        try check(result, "cannot use AES-256-GCM")
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Seals two pieces as one message into `output`, and puts the tag behind them.
    ///
    /// - Parameters:
    ///   - nonce: ``nonceByteCount`` bytes, never used before under this key.
    ///   - authenticated: the bytes of `output` that are bound to the message, and stay in the clear.
    ///   - start: where the message begins in `output`, which has room for it and the tag.
    package func seal(
        _ first: Span<UInt8>, _ second: Span<UInt8>, nonce: Span<UInt8>, authenticating authenticated: Range<Int>,
        into output: inout MutableSpan<UInt8>, at start: Int
    ) throws(OpenSSLError) {
        let end = start + first.count + second.count
        precondition(nonce.count == Self.nonceByteCount && end + Self.tagByteCount <= output.count, "no room to seal")
        precondition(
            authenticated.lowerBound >= 0 && authenticated.upperBound <= start, "the clear part lies before the message"
        )
        let context = unsafe context
        let result = unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe nonce.withUnsafeBufferPointer { nonce in
                unsafe EVP_CipherInit_ex(context, nil, nil, nil, nonce.baseAddress, 1)
            } == 1
                && Self.add(output.baseAddress! + authenticated.lowerBound, authenticated.count, to: context)
                && first.withUnsafeBufferPointer { bytes in
                    unsafe Self.update(context, output.baseAddress! + start, bytes.baseAddress, bytes.count)
                }
                && second.withUnsafeBufferPointer { bytes in
                    unsafe Self.update(
                        context, output.baseAddress! + start + first.count, bytes.baseAddress, bytes.count)
                } && Self.finish(context, output.baseAddress! + end)
                && EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_GCM_GET_TAG, CInt(Self.tagByteCount), output.baseAddress! + end) == 1
        }
        guard result else { throw .taking("cannot seal") }
    }

    /// Opens a message and its tag.
    ///
    /// - Parameters:
    ///   - sealed: the message, and the tag behind it.
    ///   - authenticated: the bytes that are bound to it.
    ///   - output: has the message then; what was in it is replaced. Nothing of it may be used where this returns false.
    /// - Returns: false where the tag is not that of these bytes under this key.
    package func open(
        _ sealed: Span<UInt8>, nonce: Span<UInt8>, authenticating authenticated: Span<UInt8>, into output: inout [UInt8]
    ) -> Bool {
        let count = sealed.count - Self.tagByteCount
        guard count >= 0, nonce.count == Self.nonceByteCount else { return false }
        if output.count > count {
            output.removeLast(output.count - count)
        } else {
            output.append(contentsOf: repeatElement(0, count: count - output.count))
        }
        let context = unsafe context
        let isOpen = unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe sealed.withUnsafeBufferPointer { sealed in
                unsafe nonce.withUnsafeBufferPointer { nonce in
                    unsafe EVP_CipherInit_ex(context, nil, nil, nil, nonce.baseAddress, 0)
                } == 1
                    && authenticated.withUnsafeBufferPointer { bytes in
                        unsafe Self.add(bytes.baseAddress, bytes.count, to: context)
                    } && Self.update(context, output.baseAddress, sealed.baseAddress, count)
                    && EVP_CIPHER_CTX_ctrl(
                        context, EVP_CTRL_GCM_SET_TAG, CInt(Self.tagByteCount),
                        UnsafeMutableRawPointer(mutating: sealed.baseAddress! + count)) == 1
                    && Self.finish(context, output.baseAddress)
            }
        }
        if !isOpen {
            ERR_clear_error()
            output.removeAll(keepingCapacity: true)
        }
        return isOpen
    }

    @unsafe private static func add(_ bytes: UnsafePointer<UInt8>?, _ count: Int, to context: OpaquePointer) -> Bool {
        var written: CInt = 0
        return unsafe count == 0 || EVP_CipherUpdate(context, nil, &written, bytes, CInt(count)) == 1
    }

    @unsafe private static func update(
        _ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>?, _ bytes: UnsafePointer<UInt8>?, _ count: Int
    ) -> Bool {
        var written: CInt = 0
        return unsafe count == 0
            || EVP_CipherUpdate(context, output, &written, bytes, CInt(count)) == 1 && written == CInt(count)
    }

    /// Writes nothing: the mode has no padding.
    @unsafe private static func finish(_ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>?) -> Bool {
        var written: CInt = 0
        var nothing: UInt8 = 0
        return unsafe withUnsafeMutablePointer(to: &nothing) { nothing in
            unsafe EVP_CipherFinal_ex(context, output ?? nothing, &written) == 1
        }
    }
}
