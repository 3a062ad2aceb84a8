//! Prompts of shells.

use super::{Separator, Style};

/// Reads a line as a prompt and what was typed at it.
pub(super) fn read(line: &str) -> Option<Separator<'_>> {
    // The longest prompts that people use; a longer line without one is not searched for it.
    let line = line.trim_end();
    let prompt = powershell(line)
        .or_else(|| framed(line))
        .or_else(|| pfsense(line))
        .or_else(|| brackets(line))
        .or_else(|| user_at_host(environment(line)))
        .or_else(|| drive(line));
    prompt
        .or_else(|| traced(line))
        .or_else(|| decorated(line))
        .or_else(|| host_and_sign(line))
        .or_else(|| sign(line))
}

/// `+ ssh gw 'ip link'`, as a shell with `set -x` says what it runs.
fn traced(line: &str) -> Option<Separator<'_>> {
    let bare = line.trim_start_matches('+');
    let command = bare.strip_prefix(' ').filter(|_| bare.len() < line.len())?;
    let is_word = command.starts_with(|c: char| c.is_ascii_alphabetic() || "/_".contains(c));
    is_word.then_some(Separator {
        style: Style::Once('+'),
        host: None,
        command,
    })
}

/// `┌──(root㉿gw1)-[~]` of Kali: the first line of a prompt, at which nothing is typed.
fn framed(line: &str) -> Option<Separator<'_>> {
    let rest = line.strip_prefix(['┌', '╭'])?;
    let mut words = rest.split(|c: char| c.is_whitespace() || "─()[]:".contains(c));
    let named = |word: &'_ str| word.contains(['㉿', '@']);
    let host = words.find(|word| named(word))?.rsplit(['㉿', '@']).next();
    host.is_some_and(is_name).then(|| certain(host, ""))
}

/// Where the first line of a prompt begins whose second line comes next: `gw1 in ~` of Starship, `~/src main` of pure.
pub(super) fn first_line(above: &str) -> Option<(usize, Option<&str>)> {
    let lines = above.trim_end();
    let start = lines.rfind('\n').map_or(0, |at| at + 1);
    let line = &lines[start..];
    let is_path = |word: &&str| word.starts_with('~') || word.starts_with('/');
    let words: Vec<&str> = line.split_whitespace().take(WORDS).collect();
    let host = words.windows(3).find_map(|words| match words {
        [host, "in", path] if is_path(path) && is_name(host) => Some(*host),
        _ => None,
    });
    let is_it = host.is_some() || words.first().is_some_and(is_path);
    (is_it && words.len() < WORDS).then_some((start, host))
}

/// More words than the first line of a prompt has: place, branch and state of a repository, time.
const WORDS: usize = 10;

/// Signs of prompts of two lines.
pub(super) const SECOND: [char; 3] = ['└', '╰', '❯'];

/// `➜  ~ git:(main) ✗ ip link` of oh-my-zsh, `└─# ip link` of Kali, `❯ ip link` of pure and Starship.
fn decorated(line: &str) -> Option<Separator<'_>> {
    let mark = line.chars().next().filter(|mark| "➜└╰❯".contains(*mark))?;
    let rest = &line[mark.len_utf8()..];
    let command = match mark {
        '➜' => {
            let (_, rest) = rest.trim_start().split_once(' ')?;
            let rest = rest.trim_start();
            let branch = rest
                .strip_prefix("git:(")
                .and_then(|rest| rest.split_once(')'));
            branch.map_or(rest, |(_, rest)| rest.trim_start_matches([' ', '✗', '✔']))
        }
        '└' | '╰' => {
            let rest = rest.trim_start_matches(['─', '➤', '❯', '>', ' ']);
            rest.strip_prefix(['#', '$']).unwrap_or(rest)
        }
        _ => rest,
    };
    Some(Separator {
        style: Style::Once(mark),
        host: None,
        command: command.trim(),
    })
}

/// `(venv) ` before a prompt; `[10:00:01] `, `[0.12] ` or `17 `: a time, the load, the number of the command.
fn environment(line: &str) -> &str {
    let number = line.split_once(' ').filter(|(word, _)| is_number(word));
    let line = number.map_or(line, |(_, rest)| rest);
    let rest = line
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(") "));
    match rest {
        Some((name, rest)) if is_name(name) => rest,
        _ => line,
    }
}

/// `PS C:\Users\x> Get-VMSwitch`, of a remote session `[hv1]: PS C:\> Get-VMSwitch`.
fn powershell(line: &str) -> Option<Separator<'_>> {
    let remote = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "));
    let (host, rest) = remote.map_or((None, line), |(host, rest)| (Some(host), rest));
    let rest = rest.strip_prefix("PS")?;
    let (path, command) = rest.split_once('>')?;
    let fits = path.is_empty() || path.starts_with(' ') && !path.contains(['|', '<', '"']);
    fits.then(|| certain(host, command))
}

/// `[root@host ~]# ethtool -k eth0`, of ESXi `[root@host:~] esxcli network nic list`.
fn brackets(line: &str) -> Option<Separator<'_>> {
    let (inside, rest) = environment(line).strip_prefix('[')?.split_once(']')?;
    let (user, behind) = inside.split_once('@')?;
    let host = behind.split([' ', ':']).next()?;
    let command = match rest.chars().next() {
        Some('#' | '$' | '%' | '>') => &rest[1..],
        // Of csh on FreeNAS, the path is behind the brackets: `[root@nas] ~# ifconfig`.
        Some(' ') if !behind.contains(':') => {
            let (path, command) = sign_of(rest)?;
            let path = path.trim_start();
            (path.starts_with(['~', '/']) && is_path(path)).then_some(command)?
        }
        Some(' ') | None if behind.contains(':') => rest,
        _ => return None,
    };
    (is_name(user) && is_name(host)).then(|| certain(Some(host), command))
}

/// `[2.7.2-RELEASE][admin@pf.example.org]/root: ifconfig` of pfSense.
fn pfsense(line: &str) -> Option<Separator<'_>> {
    let (release, rest) = line.strip_prefix('[')?.split_once("][")?;
    let (inside, rest) = rest.split_once(']')?;
    let (user, host) = inside.split_once('@')?;
    let (path, command) = rest.split_once(':')?;
    let is_path = path.starts_with(['/', '~']) && !path.contains(char::is_whitespace);
    (is_name(release) && is_name(user) && is_name(host) && is_path)
        .then(|| certain(Some(host), command))
}

/// `root@host:~# ethtool -k eth0`, `root@host:~ # ifconfig`, `me@host ~ % ifconfig`.
fn user_at_host(line: &str) -> Option<Separator<'_>> {
    let (user, rest) = line.split_once('@')?;
    let end = rest.find([':', ' ', '#', '$', '%', '>', '['])?;
    let (host, rest) = rest.split_at(end);
    let (path, command) = sign_of(rest)?;
    // TrueNAS has the folder in brackets: `root@nas[~]# ifconfig`.
    let path = path.trim_start_matches(':');
    let inner = path
        .strip_prefix('[')
        .and_then(|path| path.strip_suffix(']'));
    let path = inner.unwrap_or(path).trim();
    let fits = is_name(user) && is_name(host) && is_path(path);
    fits.then(|| certain(Some(host), command))
}

/// `[10:00:01]`, `[0.12]`, `17`, `10:00:01`; and not `2:`, the index of an interface.
fn is_number(word: &str) -> bool {
    let inner = word
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let inner = inner.unwrap_or(word);
    let mut bytes = inner.bytes();
    bytes.all(|byte| byte.is_ascii_digit() || b":.".contains(&byte))
        && inner.ends_with(|c: char| c.is_ascii_digit())
}

/// A path, with the time or the number of the command before or behind it.
fn is_path(path: &str) -> bool {
    path.split_whitespace()
        .filter(|word| !is_number(word))
        .count()
        <= 1
}

/// Splits at the first sign of a prompt, which a blank or the end of the line follows.
fn sign_of(rest: &str) -> Option<(&str, &str)> {
    let mut signs = rest.match_indices(['#', '$', '%', '>']);
    let (at, _) = signs.find(|(at, _)| {
        let behind = &rest[at + 1..];
        behind.is_empty() || behind.starts_with(' ')
    })?;
    Some((&rest[..at], &rest[at + 1..]))
}

/// `C:\Users\x>systeminfo`.
fn drive(line: &str) -> Option<Separator<'_>> {
    let (path, command) = line.split_once('>')?;
    let mut chars = path.chars();
    let letter = chars.next()?.is_ascii_uppercase();
    let fits = letter && chars.as_str().starts_with(":\\") && !path.contains(['|', '<', '"']);
    fits.then(|| certain(None, command))
}

/// `host% uname -a`, `host# ifconfig`, `host:~# ip link`, of Gentoo `host ~ # ip link`.
fn host_and_sign(line: &str) -> Option<Separator<'_>> {
    let (before, command) = sign_of(line)?;
    let apart = [" ~", " /"].iter().find_map(|path| before.find(path));
    let host = apart.map_or_else(|| before.split(':').next(), |end| before.get(..end))?;
    // Of SUSE, a blank stands before the sign: `gw1:~ # ip link`.
    let path = before[host.len()..].trim_start_matches(':').trim_end();
    let path = apart.map_or(path, |_| path.trim_start());
    // Of bash on a Mac, the user is behind the path: `mac:~ me$ ifconfig`.
    let single = !path.contains(char::is_whitespace);
    let fits = is_name(host) && (single || is_mac(path)) && !command.is_empty();
    fits.then(|| Separator {
        style: Style::Once('%'),
        host: Some(host),
        command: command.trim(),
    })
}

/// `~ me`: a path, and a user.
fn is_mac(path: &str) -> bool {
    let words: Vec<&str> = path.split(' ').collect();
    matches!(words.as_slice(), [folder, user] if folder.starts_with(['~', '/']) && is_name(user))
}

/// `# ethtool -k eth0`, `$ ip link`, and of busybox `/etc # ip link`, `~ # ip link`, with or without the blank.
fn sign(line: &str) -> Option<Separator<'_>> {
    let (path, command) = sign_of(line)?;
    // `#> ` of a prompt that somebody made.
    let fits = matches!(path, "" | "#" | "$")
        || path.starts_with(['/', '~']) && path.trim_end().len() + 1 >= path.len();
    let style = match line.chars().next()? {
        // What follows `# ` is a comment more often than not.
        '#' => Style::Known,
        first => Style::Once(first),
    };
    let single = !path.trim_end().contains(char::is_whitespace);
    (fits && single && !command.is_empty()).then(|| Separator {
        style,
        host: None,
        command: command.trim(),
    })
}

fn certain<'a>(host: Option<&'a str>, command: &'a str) -> Separator<'a> {
    Separator {
        style: Style::Certain,
        host,
        command: command.trim(),
    }
}

/// A name of a user or a host.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "-_.+$\\".contains(c);
    !name.is_empty() && name.len() <= 255 && name.chars().all(fits)
}
