import { until } from './binary.ts'
import { temporaryFolder } from './folder.ts'
import type { Page } from './page.ts'
import { freePort } from './port.ts'

/** Programs that run the examples of pages. */
const RUNNERS: Record<string, string | null> = {
  ts: process.execPath,
  python: Bun.which('python3'),
}

export const canRun = (language: string): boolean => (RUNNERS[language] ?? null) !== null

/** Collects the text of a stream. */
export function collect(stream: ReadableStream<Uint8Array>): { text: string } {
  const decoder = new TextDecoder()
  const collected = { text: '' }
  void (async () => {
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true })
  })()
  return collected
}

/** Starts the server of a page's code block with `words` as a process, with its port in `PORT`. */
export async function startShown(
  page: Page,
  { language, words, env }: { language: string; words: string; env: Record<string, string> },
) {
  const folder = temporaryFolder()
  const file = `shown.${language === 'python' ? 'py' : language}`
  await Bun.write(`${folder.path}/${file}`, page.block(language, words))
  const port = freePort()
  const child = Bun.spawn([RUNNERS[language] as string, file], {
    cwd: folder.path,
    env: { PATH: process.env.PATH, ...env, PORT: `${port}` },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = collect(child.stderr)
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(url).then(
      () => true,
      () => child.exitCode !== null,
    )
  await until(answers, () => said.text)
  if (child.exitCode !== null) throw new Error(`did not start: ${said.text}`)
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await child.exited
      folder[Symbol.dispose]()
    },
  }
}
