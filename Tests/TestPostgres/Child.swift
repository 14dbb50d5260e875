internal import HoldfastPlatform

/// A child process. Foundation's waits for its end until nobody has a certain descriptor any more, which a server that the
/// child has left behind inherits; and it blocks the signals that a thread of libdispatch's blocks.
struct Child {
    let process: pid_t

    /// - Parameters:
    ///   - words: the program and its arguments, the program with its path or for `env` to find.
    ///   - input: a descriptor that the child reads; `/dev/null` without one.
    ///   - output: the path of a file for all that it prints; `/dev/null` without one.
    init(_ words: [String], input: Int32? = nil, output: String? = nil) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output ?? "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // For the same reason: another test may be waiting with Foundation.
        for descriptor in Int32(3)..<1024 { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        let copies = unsafe (["/usr/bin/env"] + words).map { unsafe strdup($0) }
        defer { for index in 0...words.count { unsafe free(copies[index]) } }
        var process = pid_t()
        let code = unsafe posix_spawn(&process, "/usr/bin/env", &actions, &attributes, copies + [nil], environ)
        guard code == 0 else { throw PostgresFailure("\(words[0]) can't be started: errno \(code)") }
        self.process = process
    }

    /// - Returns: the status of its exit; -1 when a signal ended it.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }
}
