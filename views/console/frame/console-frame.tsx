import { Banner } from '../banner.tsx'
import { shorten } from '../text.tsx'
import { Toasts } from '../toast.tsx'
import { ConsoleDocument } from './document.tsx'
import type { FrameProps } from './model.ts'
import { OutdatedSlot } from './outdated.tsx'
import { Palette } from './palette.tsx'
import { Rail } from './sidebar.tsx'
import { Topbar } from './topbar.tsx'

/** Page layout of the console: sidebar, top bar, banners, content and toasts. */
export const ConsoleFrame = (frame: FrameProps) => (
  <ConsoleDocument
    base={frame.base}
    title={`${shorten(frame.title)} · ${shorten(frame.place.name, 48)}`}
    theme={frame.theme}
    look={frame.environment === 'test' ? 'console testdata' : 'console'}
  >
    <a class="skip" href="#content">
      Skip to content
    </a>
    <div id="progress" class="progress" aria-hidden="true" />
    <Rail {...frame} />
    <div class="stage">
      <Topbar {...frame} />
      <OutdatedSlot />
      {frame.banners?.map((banner) => (
        <Banner {...banner} />
      ))}
      <main id="content" tabindex={-1}>
        {frame.children}
      </main>
    </div>
    <Toasts flash={frame.flash} />
    <Palette {...frame} />
  </ConsoleDocument>
)
