import type { ComponentChildren } from 'preact'
import { Button } from './form/button.tsx'
import { Icon } from './icons.tsx'
import { CopyButton } from './id.tsx'

/**
 * Shows a secret once. Continuing requires the checkbox. With scripts, leaving asks for confirmation:
 * in a dialog for links, by the browser otherwise.
 */
export const SecretPanel = (panel: {
  title: string
  /** Noun for the secret, such as "key" or "link". */
  what?: string
  secret: string
  /** What the secret is for, and that it is shown only once. */
  children?: ComponentChildren
  /** A first request that works with it. */
  example?: ComponentChildren
  doneHref: string
}) => (
  <section class="secret card" aria-labelledby="secret" data-guarded>
    <h2 id="secret">{panel.title}</h2>
    <p class="hint">
      {panel.children ??
        `Copy the ${panel.what ?? 'secret'} now. You won't be able to see it again.`}
    </p>
    <div class="secretvalue">
      <code>{panel.secret}</code>
      <CopyButton what={panel.what ?? 'secret'} text={panel.secret} isLabelled />
    </div>
    {panel.example}
    <form class="saved" method="get" action={panel.doneHref}>
      <label class="tick" for="secret-saved">
        <input type="checkbox" id="secret-saved" required data-saved />
        <span>I've saved the {panel.what ?? 'secret'}</span>
      </label>
      <Button weight="primary">
        Continue
        <Icon name="right" />
      </Button>
    </form>
    <dialog class="dialog" data-leaving aria-labelledby="leaving">
      <div class="question">
        <h3 id="leaving">Have you saved the {panel.what ?? 'secret'}?</h3>
        <p>You won't be able to see it again.</p>
        <div class="actions">
          <Button type="button" closes>
            Go back
          </Button>
          <Button type="button" weight="primary" leaves>
            Leave page
          </Button>
        </div>
      </div>
    </dialog>
  </section>
)
