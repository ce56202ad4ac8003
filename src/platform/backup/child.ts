import { setPriority } from 'node:os'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isCompiled } from '../version.ts'
import { parse } from './files.ts'

/** Makes an archive of a data directory in a file; `signal` ends it early. */
export type MakeArchive = (
  dataDir: string,
  file: string,
  signal: AbortSignal,
) => Promise<{ bytes: number }>

const checkout = join(import.meta.dir, '..', '..', '..')

/** A compiled executable runs itself. */
const program = isCompiled
  ? { command: [process.execPath], cwd: '/' }
  : { command: [process.execPath, join('src', 'main.ts')], cwd: checkout }

/** Whoever waits for an answer goes first. */
const NICENESS = 10
const LAST_WORDS_MS = 1000

const Answer = Type.Object({ bytes: Type.Integer() })
const Complaint = Type.Object({ error: Type.String() })

/**
 * By a process of its own: a copy of a large database takes minutes in one piece, which would keep
 * every request waiting. It sees no configuration but what is said here: the server's file may
 * have been edited since.
 */
export const archiveInChild: MakeArchive = async (dataDir, file, signal) => {
  const place = ['--config', '/dev/null', '--data-dir', dataDir]
  const child = Bun.spawn([...program.command, 'backup', ...place, '--to', file, '--json'], {
    cwd: program.cwd,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  giveWay(child.pid)
  const cut = () => end(child)
  signal.addEventListener('abort', cut)
  if (signal.aborted) cut()
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  signal.removeEventListener('abort', cut)
  const answer = parse(out)
  if (code === 0 && Value.Check(Answer, answer)) return answer
  const complaint = parse(err)
  throw new Error(
    Value.Check(Complaint, complaint)
      ? complaint.error
      : `the process that made it ended with ${child.signalCode ?? code}`,
  )
}

/** It tidies up, unless it is amid of a copy that may take minutes; then the next one does that. */
function end(child: Bun.Subprocess) {
  child.kill('SIGTERM')
  const cut = setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS)
  child.exited.finally(() => clearTimeout(cut))
}

function giveWay(pid: number) {
  try {
    setPriority(pid, NICENESS)
  } catch {
    // It has ended already, or the system does not let us.
  }
}
