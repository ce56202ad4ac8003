import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openWorkFolder } from '../platform/backup/work-folder.ts'
import { systemClock } from '../platform/clock.ts'
import { conflict } from '../platform/errors.ts'
import { giveName, refuseTaken, sync } from '../platform/files.ts'
import { thisProcess } from '../platform/process.ts'
import { VERSION } from '../platform/version.ts'
import type { Io } from './command.ts'
import { onInterrupt } from './interrupted.ts'

/** The target of an export. Disposing one that was not ended removes what was written. */
export interface Sink extends Disposable {
  /** For the report. */
  target: { file?: string }
  write(text: string): Promise<void>
  end(): Promise<void>
}

type Output = Pick<Io, 'out' | 'outStream'>

/** Opens a new file, or standard output if `file` is undefined. */
export const openSink = (io: Output, file: string | undefined): Sink =>
  file === undefined ? outputSink(io) : fileSink(file)

/** Bytes per write. */
const CHUNK = 64 * 1024

/** Writes to standard output and waits for its reader, so that unread data does not fill the memory. */
function outputSink({ out, outStream }: Output): Sink {
  let held = ''

  async function flush() {
    const taken = out(held)
    held = ''
    await taken
    if (outStream.errored) throw conflict('the output was closed before the export was complete')
  }

  async function write(text: string) {
    held += text
    if (held.length >= CHUNK) await flush()
  }

  return { target: {}, write, end: flush, [Symbol.dispose]: () => {} }
}

/** The file gets its name once it is complete. The next export removes what a killed one left. */
function fileSink(file: string): Sink {
  refuseTaken(file)
  const work = openWorkFolder({
    parent: dirname(file),
    process: thisProcess(VERSION),
    now: systemClock.now(),
    onInterrupt,
  })
  const draft = join(work.path, 'draft')
  const descriptor = openSync(draft, 'wx', 0o600)
  let held = ''
  let isOpen = true

  /** Writes in a loop, because a nearly full disk takes only a part. */
  function flush() {
    const bytes = Buffer.from(held)
    held = ''
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
  }

  /** Yields between chunks, so that signals can arrive. */
  async function write(text: string) {
    held += text
    if (held.length < CHUNK) return
    flush()
    await new Promise((resolve) => setImmediate(resolve))
  }

  async function end() {
    flush()
    fsyncSync(descriptor)
    close()
    giveName(draft, file)
    sync(dirname(file))
  }

  function close() {
    if (isOpen) closeSync(descriptor)
    isOpen = false
  }

  function dispose() {
    close()
    work.remove()
  }

  return { target: { file }, write, end, [Symbol.dispose]: dispose }
}
