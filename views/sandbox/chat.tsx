import type { SandboxButton, SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'
import { TenantMark } from '../flows/branding.tsx'
import { shownName } from '../flows/name.ts'
import { START } from './choices.ts'
import type { Words } from './words.ts'

/** The conversation as in a messenger, with the buttons below the last message. */
export const Chat = ({ page, words }: { page: SandboxPage; words: Words }) => {
  const name = page.tenantName ?? words.testBot
  return (
    <section class="chat" aria-labelledby="bot">
      <header>
        <TenantMark name={name} />
        <div>
          <h2 id="bot">
            <bdi>{shownName(name)}</bdi>
          </h2>
          <p class="kind">{words.testBot}</p>
        </div>
      </header>
      {/* biome-ignore lint/a11y/noRedundantRoles: without marks, some browsers see no list in it */}
      <ol role="list" aria-label={words.messages}>
        {page.chat.map(({ from, text }, position) => (
          <li class={from}>
            <span class="unseen">{words.speakers[from]} </span>
            <p class="bubble" dir="auto">
              {text}
            </p>
            {position === page.chat.length - 1 && <Answers rows={page.buttons} words={words} />}
          </li>
        ))}
      </ol>
      {page.canPressStart && <Start words={words} />}
    </section>
  )
}

const Answers = ({ rows, words }: { rows: SandboxButton[][]; words: Words }) =>
  rows.length === 0 ? null : (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and these are buttons
    <div class="answers" role="group" aria-label={words.answers}>
      {rows.map((row) => (
        <div class="row">
          {row.map(({ label, choice }) => (
            <button type="submit" class="answer" name="choice" value={choice}>
              {label}
            </button>
          ))}
        </div>
      ))}
    </div>
  )

const Start = ({ words }: { words: Words }) => (
  <footer>
    <button type="submit" class="quiet" name="choice" value={START} aria-describedby="start-hint">
      {words.start.heading}
    </button>
    <p class="start-hint" id="start-hint">
      {words.start.text}
    </p>
  </footer>
)
