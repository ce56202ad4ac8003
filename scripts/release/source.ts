/** What a release is made of: a commit, its version, and what the changelog says about it. */

/** What is wrong with calling this version so; nothing when the list is empty. */
export function tagErrors(tag: string, version: string, changelog: string): string[] {
  const errors: string[] = []
  if (tag !== `v${version}`)
    errors.push(`the tag ${tag} is not v${version}, as package.json has it`)
  const section = changelogSection(changelog, version)
  if (!section?.text) errors.push(`CHANGELOG.md has no section [${version}] with a text`)
  else if (!section.date)
    errors.push(`CHANGELOG.md has no date for [${version}]: ## [${version}] - YYYY-MM-DD`)
  return errors
}

/** The text below `## [version] - date`, up to the next version. */
export function changelogSection(changelog: string, version: string) {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.startsWith(`[${version}]`))
  if (section === undefined) return undefined
  const [heading = '', ...lines] = section.split('\n')
  return { date: / - (\d{4}-\d{2}-\d{2})$/.exec(heading)?.[1], text: lines.join('\n').trim() }
}

/** The commit that is checked out, and its time in seconds. */
export async function readCommit(root: string, { allowDirty }: { allowDirty: boolean }) {
  const git = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await Bun.$`git ${args}`.cwd(root).quiet().nothrow()
    if (exitCode !== 0) throw new Error(stderr.toString().trim())
    return stdout.toString().trim()
  }
  const dirty = (await git('status', '--porcelain')) !== ''
  if (dirty && !allowDirty)
    throw new Error('there are changes that are not committed; --allow-dirty builds them anyway')
  const hash = await git('rev-parse', '--short=12', 'HEAD')
  const time = Number(await git('log', '-1', '--format=%ct'))
  return { name: dirty ? `${hash}-dirty` : hash, time }
}
