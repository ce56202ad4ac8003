import { Banner } from '../ui/banner.tsx'
import { shorten } from '../ui/text.tsx'
import { ConsoleDocument } from './document.tsx'
import { OutdatedSlot } from './live.tsx'
import type { LayoutProps } from './model.ts'
import { Palette, Shortcuts } from './palette.tsx'
import { Sidebar } from './sidebar.tsx'
import { Toasts } from './toast.tsx'
import { Topbar } from './topbar.tsx'

/** Page layout of the console: sidebar, top bar, banners, content and toasts. */
export const ConsoleLayout = (layout: LayoutProps) => (
  <ConsoleDocument
    base={layout.base}
    title={`${shorten(layout.title)} · ${shorten(layout.scope.name, 48)}`}
    theme={layout.theme}
    style={layout.environment === 'test' ? 'console testdata' : 'console'}
    address={layout.address}
  >
    <a class="skip" href="#content">
      Skip to content
    </a>
    <div id="progress" class="progress" aria-hidden="true" />
    <Sidebar {...layout} />
    <div class="stage">
      <Topbar {...layout} />
      <OutdatedSlot />
      {layout.banners?.map((banner) => (
        <Banner {...banner} />
      ))}
      <main id="content" tabindex={-1}>
        {layout.children}
      </main>
    </div>
    <Toasts flash={layout.flash} />
    <Palette {...layout} />
    <Shortcuts />
  </ConsoleDocument>
)
