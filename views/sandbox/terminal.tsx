import type { SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'
import { choicesOf, START } from './choices.ts'
import type { Words } from './words.ts'

/** The command that does the same as the buttons, for automated tests. */
export const Terminal = ({ page, words }: { page: SandboxPage; words: Words }) => {
  const choices = choicesOf(page)
  if (choices.length === 0) return null
  return (
    <section class="terminal" aria-labelledby="terminal">
      <h2 id="terminal">{words.terminal.heading}</h2>
      <p>{words.terminal.text}</p>
      <pre tabindex={0}>
        <code>{commandOf(page)}</code>
      </pre>
      <p class="choices">
        {words.choices}:{' '}
        {choices.map((choice) => (
          <>
            <code>choice={choice}</code>{' '}
          </>
        ))}
      </p>
    </section>
  )
}

function commandOf({ buttons, people }: SandboxPage): string {
  const offered = buttons.flat()
  const answer = offered.find(({ weight }) => weight !== 'deny') ?? offered[0]
  const person = people.find(({ isChosen }) => isChosen) ?? people[0]
  return [
    'curl "$DEEP_LINK"',
    `-d choice=${answer?.choice ?? START}`,
    ...(person ? [`-d person=${person.id}`] : []),
  ].join(' \\\n  ')
}
