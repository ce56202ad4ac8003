import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { Button } from './form/button.tsx'
import { Icon } from './icons.tsx'

/**
 * A secret on its only page. Going on asks for the tick; leaving otherwise asks as well, where
 * scripts run: by a question of ours for a link, by the browser's own for all else.
 */
export const SecretPanel = (panel: {
  title: string
  /** What it is in one word, where that is not a secret: a key, a link. */
  what?: string
  secret: string
  /** What it is good for, and that nobody can show it again. */
  children?: ComponentChildren
  /** A first request that works with it. */
  example?: ComponentChildren
  doneHref: string
}) => (
  <section class="secret card" aria-labelledby="secret" data-guarded>
    <h2 id="secret">{panel.title}</h2>
    <p class="hint">{panel.children ?? 'Save it now: this is the only time that it is shown.'}</p>
    <div class="secretvalue">
      <code>{panel.secret}</code>
      <CopyButton what={panel.what ?? 'secret'} text={panel.secret} isLabelled />
    </div>
    {panel.example}
    <form class="saved" method="get" action={panel.doneHref}>
      <label class="tick" for="secret-saved">
        <input type="checkbox" id="secret-saved" required data-saved />
        <span>I have saved it</span>
      </label>
      <Button weight="primary">
        Continue
        <Icon name="right" />
      </Button>
    </form>
    <dialog class="dialog" data-leaving aria-labelledby="leaving">
      <div class="question">
        <h3 id="leaving">Have you saved it?</h3>
        <p>Nobody can show it again.</p>
        <div class="actions">
          <Button type="button" closes>
            Stay
          </Button>
          <Button type="button" weight="primary" leaves>
            I have saved it
          </Button>
        </div>
      </div>
    </dialog>
  </section>
)
