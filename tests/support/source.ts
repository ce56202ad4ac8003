import { join } from 'node:path'

export const ROOT = join(import.meta.dir, '..', '..')
export const MAIN = join(ROOT, 'src', 'main.ts')

/** What runs the sources. Started elsewhere, they find the settings of the checkout no more. */
export const SOURCE = [process.execPath, `--tsconfig-override=${join(ROOT, 'tsconfig.json')}`, MAIN]

interface Launch {
  cwd: string
  args: string[]
  env?: Record<string, string>
}

/** Runs a command to its end by a process of its own, which closes what `cli` may leave open. */
export const runSource = ({ cwd, args, env = {} }: Launch) =>
  outcomeOf(
    Bun.spawn([...SOURCE, ...args], { cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' }),
  )

/** What a process printed, once it has ended. */
export async function outcomeOf(child: Bun.ReadableSubprocess) {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err, json: () => JSON.parse(out) }
}
