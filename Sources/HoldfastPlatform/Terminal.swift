/// The mode of a terminal: whether it echoes, and when it hands out what is typed.
package struct TerminalMode: Sendable {
    private var attributes: termios

    /// - Returns: nil for a descriptor that is no terminal.
    package init?(of descriptor: Int32) {
        var attributes = termios()
        guard unsafe tcgetattr(descriptor, &attributes) == 0 else { return nil }
        self.attributes = attributes
    }

    /// The same mode without echo, lines and signals: each key is handed out as it is typed, Ctrl-C and Ctrl-Z among them.
    package var raw: TerminalMode {
        var copy = self
        unsafe cfmakeraw(&copy.attributes)
        return copy
    }

    /// Sets the mode once what was written has gone out. A terminal that has gone away is let be.
    package func apply(to descriptor: Int32) {
        var attributes = attributes
        while unsafe tcsetattr(descriptor, TCSADRAIN, &attributes) != 0, errno == EINTR {}
    }
}

/// Columns and rows of a terminal, as it says itself.
package struct TerminalExtent: Hashable, Sendable {
    package let columns: Int
    package let rows: Int

    /// - Returns: nil for a descriptor that is no terminal, and for one that does not say.
    package init?(of descriptor: Int32) {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
    }
}

/// Stops of this process by job control.
package enum JobControl {
    /// Stops this process until somebody continues it. Can't be trapped.
    package static func stop() { _ = kill(getpid(), SIGSTOP) }

    /// Asks all processes of this one's job to stop, itself among them, as Ctrl-Z does.
    package static func stopJob() { _ = kill(0, SIGTSTP) }
}
