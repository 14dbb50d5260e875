private import CHoldfastOpenSSL

/// Owns an `ECDSA_SIG`, and translates between the two ways to write one down for P-256.
@safe
struct ECDSASignature: ~Copyable {
    private let pointer: OpaquePointer

    static let joseByteCount = 64

    /// Reads the DER sequence of OpenSSL's signatures.
    init(der: Span<UInt8>) throws(OpenSSLError) {
        unsafe pointer = try check(
            der.withUnsafeBufferPointer { buffer in
                var next = buffer.baseAddress
                return unsafe d2i_ECDSA_SIG(nil, &next, buffer.count)
            }, "not an ECDSA signature")
    }

    /// Reads JOSE's r‖s.
    init(jose: Span<UInt8>) throws(OpenSSLError) {
        guard jose.count == Self.joseByteCount else {
            throw OpenSSLError("an ES256 signature has \(Self.joseByteCount) bytes, not \(jose.count)")
        }
        let signature = unsafe try check(ECDSA_SIG_new(), "cannot allocate a signature")
        let half = Self.joseByteCount / 2
        let (r, s) = unsafe jose.withUnsafeBufferPointer { buffer in
            unsafe (
                BN_bin2bn(buffer.baseAddress, CInt(half), nil), BN_bin2bn(buffer.baseAddress! + half, CInt(half), nil)
            )
        }
        // Takes over both numbers when it succeeds, and only then.
        guard unsafe r != nil && s != nil && ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            unsafe ECDSA_SIG_free(signature)
            throw .taking("cannot allocate a signature")
        }
        unsafe pointer = unsafe signature
    }

    deinit { unsafe ECDSA_SIG_free(pointer) }

    /// The most bytes of a DER sequence of two numbers of P-256.
    static let greatestDERByteCount = 72

    /// Another party's signature, in either form, as DER; nil for bytes in neither. DER has one form for each number,
    /// so that one signature can't be written in two ways.
    static func der(of signature: Span<UInt8>) -> [UInt8]? {
        do {
            if signature.count == joseByteCount { return try ECDSASignature(jose: signature).der() }
            guard (8...greatestDERByteCount).contains(signature.count) else { return nil }
            let der = try ECDSASignature(der: signature).der()
            return signature.indices.allSatisfy { $0 < der.count && der[$0] == signature[$0] }
                && der.count == signature.count ? der : nil
        } catch {
            return nil
        }
    }

    func jose() throws(OpenSSLError) -> [UInt8] {
        let half = CInt(Self.joseByteCount / 2)
        var bytes = [UInt8](repeating: 0, count: Self.joseByteCount)
        let fits = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe BN_bn2binpad(ECDSA_SIG_get0_r(pointer), buffer.baseAddress, half) == half
                && BN_bn2binpad(ECDSA_SIG_get0_s(pointer), buffer.baseAddress! + Int(half), half) == half
        }
        guard fits else { throw .taking("the signature is not one of P-256") }
        return bytes
    }

    func der() throws(OpenSSLError) -> [UInt8] {
        let count = unsafe i2d_ECDSA_SIG(pointer, nil)
        guard count > 0 else { throw .taking("cannot encode a signature") }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress
            return unsafe i2d_ECDSA_SIG(pointer, &next)
        }
        guard written == count else { throw .taking("cannot encode a signature") }
        return bytes
    }
}
